/** Requests to the REST edge and to the services beside it, typed by their OpenAPI documents. */
import createClient from "openapi-fetch";
import { createContext, useContext } from "react";
import type { components as PositionComponents, paths as PositionPaths } from "#gen/openapi/positions.ts";
import type { components, paths } from "#gen/openapi/rest-edge.ts";
import type {
  components as SubscriptionComponents,
  paths as SubscriptionPaths,
} from "#gen/openapi/subscriptions.ts";
import { RefusedError, UnreachableError } from "./errors.ts";
import {
  adoptSession,
  beginSession,
  currentSession,
  endSession,
  isLeaving,
  keptSession,
  type Session,
} from "./session.ts";
import { createTurns } from "./turns.ts";

/** The Authorization header of a token. */
export const bearer = (token: string): string => ["Bearer", token].join(" ");

export type Schemas = components["schemas"];
export type PositionSchemas = PositionComponents["schemas"];
export type SubscriptionSchemas = SubscriptionComponents["schemas"];
export type Client = ReturnType<typeof createClient<paths>>;
export type PositionClient = ReturnType<typeof createClient<PositionPaths>>;
export type SubscriptionClient = ReturnType<typeof createClient<SubscriptionPaths>>;

const TIMEOUT_MS = 20_000;
/** Tokens are renewed this long before their end. */
const RENEWED_BEFORE_MS = 60_000;
const RENEWAL_LOCK = "openspot.trade.renewal";

/** Where the REST edge is, and the services that may not run. */
export interface Addresses {
  restUrl: string;
  positionsUrl: string | null;
  subscriptionsUrl: string | null;
}

export interface Exchange {
  /** Where the REST edge is. */
  restUrl: string;
  rest: Client;
  /** The position service, or null where it does not run. */
  positions: PositionClient | null;
  /** The subscription service, or null where it does not run. */
  subscriptions: SubscriptionClient | null;
  /** An access token that works now, or null without a session. Renews it if it must. */
  freshToken: (isRefused?: string) => Promise<string | null>;
}

/** The services at these addresses. All take the tokens of the REST edge, which alone renews them. */
export function connectExchange({ restUrl, positionsUrl, subscriptionsUrl }: Addresses): Exchange {
  const turns = createTurns();

  async function ask(request: Request): Promise<Response> {
    // The services beside the edge count on their own, and are asked little.
    const isOfEdge = request.url.startsWith(restUrl);
    if (isOfEdge) await turns.take(request.method !== "GET");
    const signal = AbortSignal.any([request.signal, AbortSignal.timeout(TIMEOUT_MS)]);
    try {
      const response = await fetch(new Request(request, { signal }));
      if (isOfEdge) turns.learn(response.headers);
      return response;
    } catch (error) {
      if (request.signal.aborted) throw error;
      throw new UnreachableError(new URL(request.url).origin, request.method === "GET");
    }
  }

  async function renew(session: Session): Promise<string | null> {
    const body = JSON.stringify({ refreshToken: session.refreshToken });
    const headers = { "Content-Type": "application/json" };
    const response = await ask(
      new Request(`${restUrl}/api/v1/auth/refresh`, { method: "POST", headers, body }),
    );
    if (response.ok) {
      const tokens = (await response.json()) as Schemas["TokensResponse"];
      beginSession(tokens, session.email);
      return tokens.accessToken;
    }
    if (response.status !== 401) throw await refusal(response);
    if (currentSession()?.refreshToken === session.refreshToken) endSession("expired");
    return null;
  }

  async function freshToken(refused?: string): Promise<string | null> {
    const works = (session: Session) =>
      session.accessToken !== refused && session.expiresAt - Date.now() > RENEWED_BEFORE_MS;
    const session = currentSession();
    if (session === null || works(session)) return session?.accessToken ?? null;
    if (isLeaving(session)) return null;
    return oneTabAtATime(async () => {
      const kept = keptSession();
      if (kept === null) return null;
      if (works(kept)) {
        adoptSession(kept);
        return kept.accessToken;
      }
      return renew(kept);
    });
  }

  async function send(request: Request): Promise<Response> {
    const again = request.clone();
    const token = await freshToken();
    if (token !== null) request.headers.set("Authorization", bearer(token));
    const response = await ask(request);
    if (response.status !== 401 || token === null || (await codeOf(response)) !== "UNAUTHENTICATED")
      return response;
    // The session was ended elsewhere, or the clock of this computer is wrong.
    const renewed = await freshToken(token);
    if (renewed === null) return response;
    again.headers.set("Authorization", bearer(renewed));
    return ask(again);
  }

  const at = (baseUrl: string) => ({ baseUrl, fetch: send });
  return {
    restUrl,
    rest: createClient<paths>(at(restUrl)),
    positions: positionsUrl === null ? null : createClient<PositionPaths>(at(positionsUrl)),
    subscriptions: subscriptionsUrl === null ? null : createClient<SubscriptionPaths>(at(subscriptionsUrl)),
    freshToken,
  };
}

async function codeOf(response: Response): Promise<string> {
  const body = (await response
    .clone()
    .json()
    .catch(() => null)) as { code?: string } | null;
  return body?.code ?? "";
}

let renewal: Promise<unknown> = Promise.resolve();

/** Runs `work` when no other tab, and nothing else in this tab, runs it. */
async function oneTabAtATime<Result>(work: () => Promise<Result>): Promise<Result> {
  // Browsers offer locks to secure pages alone; without them the tabs of one page at least take turns.
  const locks = (navigator as Partial<Navigator>).locks;
  if (locks) return await locks.request(RENEWAL_LOCK, work);
  const turn = renewal.then(work, work);
  renewal = turn.catch(() => undefined);
  return turn;
}

async function refusal(response: Response): Promise<RefusedError> {
  const body: unknown = await response.json().catch(() => null);
  return new RefusedError(response.status, body, retryAfterOf(response));
}

function retryAfterOf(response: Response): number | null {
  const text = response.headers.get("Retry-After");
  // eslint-disable-next-line openspot/decimal-text -- seconds
  return text !== null && /^\d{1,6}$/.test(text) ? Number(text) : null;
}

interface Outcome<Data> {
  data?: Data;
  error?: unknown;
  response: Response;
}

/** The data of a response. Throws RefusedError or UnreachableError. */
export async function returned<Data>(call: Promise<Outcome<Data>>): Promise<Exclude<Data, undefined>> {
  const { data, error, response } = await call;
  if (!response.ok) throw new RefusedError(response.status, error, retryAfterOf(response));
  return data as Exclude<Data, undefined>;
}

/** A page of a list, with the cursor of the next page or null. */
export interface Slice<Row> {
  rows: readonly Row[];
  next: string | null;
}

/** `returned`, for a list with a cursor in its headers. */
export async function slice<Row>(call: Promise<Outcome<Row[]>>): Promise<Slice<Row>> {
  const { data, error, response } = await call;
  if (!response.ok) throw new RefusedError(response.status, error, retryAfterOf(response));
  return { rows: data ?? [], next: response.headers.get("X-Next-Cursor") };
}

/** A new idempotency key. The edge carries out requests with the same key once. */
export function attemptKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
}

export const ExchangeContext = createContext<Exchange | null>(null);

export function useExchange(): Exchange {
  const exchange = useContext(ExchangeContext);
  if (!exchange) throw new Error("no exchange around this component");
  return exchange;
}
