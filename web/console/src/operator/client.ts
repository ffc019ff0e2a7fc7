/** The REST edge as operators use it: their login, and its routes, typed by its OpenAPI document. */
import createClient from "openapi-fetch";
import { createContext, useContext } from "react";
import type { components, paths } from "#gen/openapi/rest-edge.ts";
import { saveLink } from "#lib/saveFile.ts";
import { EdgeError } from "../engine/errors.ts";
import { currentSession, endSession } from "../engine/session.ts";
import {
  currentUserSession,
  endUserSession,
  keepUserSession,
  type UserEnding,
  type UserSession,
} from "./session.ts";

export type Schemas = components["schemas"];

const TIMEOUT_MS = 20_000;
/** Tokens are renewed this long before their end. */
const RENEWED_BEFORE_MS = 60_000;
const UNAUTHORIZED = 401;
const FORBIDDEN = 403;

/** A login that waits for a code. */
export interface Challenge {
  email: string;
  challengeToken: string;
}

export interface Edge {
  readonly url: string;
  /** The routes. Calls are signed by `token`. */
  readonly rest: ReturnType<typeof createClient<paths>>;
  /** The password was right: a session, or what a code is asked for. Rejects with EdgeError. */
  login: (email: string, password: string) => Promise<UserSession | Challenge>;
  /** The second step of a login. Rejects with EdgeError. */
  sendCode: (challenge: Challenge, code: string) => Promise<UserSession>;
  /** End the session at the edge. */
  logout: (session: UserSession) => Promise<void>;
  /** Read anew what the user's session may do; ends it if the user is no operator any more. */
  refreshPermissions: () => Promise<void>;
  /** The token that signs calls of REST edge and web server: the user's, which is renewed if it must, or the engine's. */
  token: (refused?: string) => Promise<string | null>;
}

/** The edge at an address. */
export function connectEdge(url: string): Edge {
  const api = `${url}/api/v1`;

  async function ask(request: Request): Promise<Response> {
    const signal = AbortSignal.any([request.signal, AbortSignal.timeout(TIMEOUT_MS)]);
    try {
      return await fetch(new Request(request, { signal }));
    } catch (error) {
      if (request.signal.aborted) throw error;
      throw new EdgeError(0, "", `no response from ${url}`);
    }
  }

  async function call(method: string, path: string, token: string | null, body?: object): Promise<unknown> {
    const headers = {
      ...(token === null ? {} : { Authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
    };
    const response = await ask(
      new Request(`${api}${path}`, {
        method,
        headers,
        body: body === undefined ? null : JSON.stringify(body),
      }),
    );
    const content: unknown = await response.json().catch(() => null);
    if (!response.ok) throw refusalOf(response.status, content);
    return content;
  }

  /** The session of new tokens, once the edge has said what it may do. A session that may do nothing ends at once. */
  async function began(tokens: Schemas["TokensResponse"], email: string): Promise<UserSession> {
    try {
      const found = (await call(
        "GET",
        "/operator/session",
        tokens.accessToken,
      )) as Schemas["OperatorSessionResponse"];
      return { ...kept(tokens, email), ...found };
    } catch (error) {
      await call("POST", "/auth/logout", tokens.accessToken).catch(() => undefined);
      throw error;
    }
  }

  async function renew(session: UserSession): Promise<string | null> {
    try {
      const tokens = (await call("POST", "/auth/refresh", null, {
        refreshToken: session.refreshToken,
      })) as Schemas["TokensResponse"];
      keepUserSession({ ...session, ...kept(tokens, session.email) });
      return tokens.accessToken;
    } catch (error) {
      if (!(error instanceof EdgeError) || error.status !== UNAUTHORIZED) throw error;
      endUserSession(session.refreshToken, "refused");
      return null;
    }
  }

  let renewal: Promise<string | null> | null = null;

  async function token(refused?: string): Promise<string | null> {
    const session = currentUserSession();
    if (session === null) {
      const engine = currentSession()?.token ?? null;
      return engine === refused ? null : engine;
    }
    const works = session.accessToken !== refused && session.expiresAt - Date.now() > RENEWED_BEFORE_MS;
    if (works) return session.accessToken;
    renewal ??= renew(session).finally(() => {
      renewal = null;
    });
    return renewal;
  }

  async function send(request: Request): Promise<Response> {
    const again = request.clone();
    const first = await token();
    if (first !== null) request.headers.set("Authorization", `Bearer ${first}`);
    const response = await ask(request);
    if (response.status === FORBIDDEN) void edge.refreshPermissions().catch(() => undefined);
    if (response.status !== UNAUTHORIZED || first === null) return response;
    const renewed = await token(first);
    if (renewed === null) {
      endSession(first, "refused");
      return response;
    }
    again.headers.set("Authorization", `Bearer ${renewed}`);
    return ask(again);
  }

  const edge: Edge = {
    url,
    rest: createClient<paths>({ baseUrl: url, fetch: send }),
    async login(email, password) {
      const found = (await call("POST", "/auth/login", null, { email, password })) as
        Schemas["TokensResponse"] | Schemas["ChallengeResponse"];
      if ("challengeToken" in found) return { email, challengeToken: found.challengeToken };
      return began(found, email);
    },
    async sendCode({ email, challengeToken }, code) {
      const tokens = await call("POST", "/auth/login/mfa", null, { challengeToken, code });
      return began(tokens as Schemas["TokensResponse"], email);
    },
    async logout(session) {
      await call("POST", "/auth/logout", session.accessToken);
    },
    async refreshPermissions() {
      const signed = await token();
      const session = currentUserSession();
      if (session === null || signed === null) return;
      try {
        const found = (await call("GET", "/operator/session", signed)) as Schemas["OperatorSessionResponse"];
        const now = currentUserSession();
        if (now?.userId !== session.userId) return;
        const isSame =
          JSON.stringify([now.roles, now.permissions]) === JSON.stringify([found.roles, found.permissions]);
        if (!isSame) keepUserSession({ ...now, ...found });
      } catch (error) {
        const ending = error instanceof EdgeError ? endingOf(error) : null;
        if (ending === null) throw error;
        endUserSession(currentUserSession()?.refreshToken ?? "", ending);
      }
    },
    token,
  };
  return edge;
}

function kept(tokens: Schemas["TokensResponse"], email: string) {
  const { userId, accessToken, refreshToken, expiresIn } = tokens;
  return { userId, email, accessToken, refreshToken, expiresAt: Date.now() + expiresIn * 1000 };
}

/** Why a session is over whose operator's rights the edge refuses to tell, or null if that says nothing. */
function endingOf(error: EdgeError): UserEnding | null {
  if (error.status === UNAUTHORIZED) return "refused";
  return error.code === "FORBIDDEN" ? "demoted" : null;
}

function refusalOf(status: number, content: unknown): EdgeError {
  const { message, code } = (content ?? {}) as { message?: unknown; code?: unknown };
  const text = Array.isArray(message) ? message.join("; ") : message;
  return new EdgeError(
    status,
    typeof code === "string" ? code : "",
    typeof text === "string" ? text : `the REST edge returned ${status}`,
  );
}

interface Outcome<Data> {
  data?: Data;
  error?: unknown;
  response: Response;
}

/** The data of a response. Throws EdgeError. */
export async function returned<Data>(call: Promise<Outcome<Data>>): Promise<Exclude<Data, undefined>> {
  const { data, error, response } = await call;
  if (!response.ok) throw refusalOf(response.status, error);
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
  if (!response.ok) throw refusalOf(response.status, error);
  return { rows: data ?? [], next: response.headers.get("X-Next-Cursor") };
}

/** The whole of a small file that the edge has, such as a document. Throws EdgeError. */
export async function fileOf(edge: Edge, path: string): Promise<Blob> {
  const signed = await edge.token();
  let response: Response;
  try {
    response = await fetch(`${edge.url}/api/v1${path}`, {
      headers: signed === null ? {} : { Authorization: `Bearer ${signed}` },
    });
  } catch {
    throw new EdgeError(0, "", `no response from ${edge.url}`);
  }
  if (!response.ok) throw refusalOf(response.status, await response.json().catch(() => null));
  return response.blob();
}

/**
 * Let the browser save an export to its disk, under a name, by a link that is used once: so the page needs no memory for
 * it, however large it is. Throws EdgeError if there is no link; what the export refuses is saved as refused.json.
 */
export async function saveExport(
  edge: Edge,
  path: string,
  query: URLSearchParams,
  name: string,
): Promise<void> {
  const made = await returned(
    edge.rest.POST("/api/v1/operator/downloads", { body: { path, query: query.toString(), name } }),
  );
  saveLink(`${edge.url}/api/v1${made.path}`);
}

export const EdgeContext = createContext<Edge | null>(null);

/** The REST edge that the page's configuration names. */
export function useEdge(): Edge {
  const edge = useContext(EdgeContext);
  if (!edge) throw new Error("useEdge outside of EdgeContext");
  return edge;
}
