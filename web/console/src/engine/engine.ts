/** The engine as the console sees it: every method it calls, and the change of a refusal into an error. */
import { type Client, createClient } from "@connectrpc/connect";
import { createContext, useContext } from "react";
import {
  type AdjustBalanceRequest,
  AdminService,
  type CancelOrderAdminRequest,
  type CreateParticipantRequest,
  type Participant,
  type ParticipantResponse,
} from "#gen/exchange/v1/admin_pb.ts";
import { RefusedError } from "./errors.ts";
import {
  type Currency,
  type NewCurrency,
  type NewSymbol,
  readCurrencies,
  readSymbols,
  type SymbolSpec,
} from "./markets.ts";
import { ADMINISTRATORS, type Session } from "./session.ts";
import { adminHttp, adminTransport, reasonHeader } from "./transport.ts";

type Fields<Message> = Omit<Message, "$typeName" | "$unknown">;

export interface Engine {
  readonly url: string;
  /** Methods whose failures are whole: the lists and GetExchangeStats. */
  readonly admin: Client<typeof AdminService>;
  /** A new session. Rejects with RefusedError for a wrong password or a type that may not administer. */
  login: (participantId: string, password: string) => Promise<Session>;
  /** End the session of `token` at the engine. */
  logout: (token: string) => Promise<void>;
  getParticipant: (participantId: string, signal: AbortSignal) => Promise<Participant>;
  createParticipant: (fields: Fields<CreateParticipantRequest>, reason: string) => Promise<Participant>;
  activate: (participantId: string, reason: string) => Promise<Participant>;
  deactivate: (participantId: string, reason: string) => Promise<Participant>;
  setStpMode: (participantId: string, stpMode: string, reason: string) => Promise<Participant>;
  cancelOrder: (fields: Fields<CancelOrderAdminRequest>) => Promise<void>;
  adjustBalance: (fields: Fields<AdjustBalanceRequest>) => Promise<void>;
  symbols: (signal: AbortSignal) => Promise<SymbolSpec[]>;
  createSymbol: (symbol: NewSymbol, reason: string) => Promise<void>;
  changeSymbol: (
    name: string,
    change: { active?: boolean; takerFee?: number; makerFee?: number },
    reason: string,
  ) => Promise<void>;
  deleteSymbol: (name: string, reason: string) => Promise<void>;
  /** Let a market enter a phase, for some seconds, or until the next change if they are 0. */
  setPhase: (symbol: string, phase: string, seconds: number, reason: string) => Promise<void>;
  currencies: (signal: AbortSignal) => Promise<Currency[]>;
  createCurrency: (currency: NewCurrency, reason: string) => Promise<void>;
  changeCurrency: (name: string, change: Omit<NewCurrency, "currency">, reason: string) => Promise<void>;
  deleteCurrency: (name: string, reason: string) => Promise<void>;
}

/** The engine at an address. */
export function connectEngine(url: string): Engine {
  const admin = createClient(AdminService, adminTransport(url));
  const http = adminHttp(url);
  const logout = async (token: string) => {
    await admin.logout({}, { headers: { Authorization: `Bearer ${token}` } });
  };
  return {
    url,
    admin,
    async login(participantId, password) {
      const answer = await admin.login({ participantId, password });
      if (!answer.success) throw new RefusedError(answer.error);
      if (!ADMINISTRATORS.includes(answer.type)) {
        // Nobody will use this token: it ends here. Should that fail, it ends by its time.
        await logout(answer.token).catch(() => undefined);
        throw new RefusedError(`A session of type ${answer.type} may not use the console.`, "WRONG_TYPE");
      }
      return {
        token: answer.token,
        participantId: answer.participantId,
        name: answer.name,
        type: answer.type,
        expiresAt: Number(answer.expiresAt),
      };
    },
    logout,
    getParticipant: async (participantId, signal) =>
      participantOf(await admin.getParticipant({ participantId }, { signal })),
    createParticipant: async (fields, reason) =>
      participantOf(await admin.createParticipant(fields, { headers: reasonHeader(reason) })),
    activate: async (participantId, reason) =>
      participantOf(await admin.activateParticipant({ participantId }, { headers: reasonHeader(reason) })),
    deactivate: async (participantId, reason) =>
      participantOf(await admin.deactivateParticipant({ participantId, reason })),
    setStpMode: async (participantId, stpMode, reason) =>
      participantOf(await admin.updateStpMode({ participantId, stpMode }, { headers: reasonHeader(reason) })),
    async cancelOrder(fields) {
      const answer = await admin.cancelOrderAdmin(fields);
      if (!answer.success) throw new RefusedError(answer.error, answer.resultCode);
    },
    async adjustBalance(fields) {
      const answer = await admin.adjustBalance(fields);
      if (!answer.success) throw new RefusedError(answer.error, answer.resultCode);
    },
    symbols: async (signal) => readSymbols(await http("GET", "/symbols", { signal })),
    createSymbol: async (symbol, reason) => {
      await http("POST", "/symbols", { body: symbol, reason });
    },
    changeSymbol: async (name, change, reason) => {
      await http("PATCH", `/symbols/${name}`, { body: change, reason });
    },
    deleteSymbol: async (name, reason) => {
      await http("DELETE", `/symbols/${name}`, { reason });
    },
    async setPhase(symbol, phase, seconds, reason) {
      const answer = await admin.setMarketPhase({ symbol, phase, seconds, reason });
      if (!answer.success) throw new RefusedError(answer.error);
    },
    currencies: async (signal) => readCurrencies(await http("GET", "/currencies", { signal })),
    createCurrency: async (currency, reason) => {
      await http("POST", "/currencies", { body: currency, reason });
    },
    changeCurrency: async (name, change, reason) => {
      await http("PATCH", `/currencies/${name}`, { body: change, reason });
    },
    deleteCurrency: async (name, reason) => {
      await http("DELETE", `/currencies/${name}`, { reason });
    },
  };
}

function participantOf(answer: ParticipantResponse): Participant {
  if (!answer.success || !answer.participant)
    throw new RefusedError(answer.error || "the engine gave no reason");
  return answer.participant;
}

export const EngineContext = createContext<Engine | null>(null);

/** The engine that the page's configuration names. */
export function useEngine(): Engine {
  const engine = useContext(EngineContext);
  if (!engine) throw new Error("useEngine outside of EngineContext");
  return engine;
}
