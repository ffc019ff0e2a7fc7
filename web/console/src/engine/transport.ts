/** How the console reaches the engine: Connect JSON for AdminService, plain JSON for /api/v1/admin. */
import type { Interceptor, Transport } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import { noteResponse, noteSilence } from "./connection.ts";
import { EngineError, httpError, RestError, toEngineError, UnreachableError } from "./errors.ts";
import { currentSession, endSession } from "./session.ts";

const TIMEOUT_MS = 15_000;
const UNSUPPORTED_MEDIA_TYPE = 415;
const UNAUTHORIZED = 401;

/** `fetch` that says which address was silent, and keeps the status of a gateway that takes no JSON. */
function engineFetch(engineUrl: string): typeof fetch {
  return async (input, init) => {
    let response: Response;
    try {
      response = await fetch(input, init);
    } catch (error) {
      if (init?.signal?.aborted) throw error;
      noteSilence();
      throw new UnreachableError(engineUrl);
    }
    noteResponse();
    // Connect would make "unknown, HTTP 415" of it.
    if (response.status === UNSUPPORTED_MEDIA_TYPE) throw httpError(response.status);
    return response;
  };
}

/** Adds the session's token; ends the session when the engine no longer takes it. */
const withSession: Interceptor = (next) => async (request) => {
  const session = currentSession();
  const isLogin = request.method.name === "Login";
  request.header.set("Accept", "application/json");
  // A caller that ends an older session names its token itself.
  if (session && !isLogin && !request.header.has("Authorization")) {
    request.header.set("Authorization", `Bearer ${session.token}`);
  }
  try {
    return await next(request);
  } catch (error) {
    if (request.signal.aborted) throw error;
    const known = toEngineError(error);
    if (session && !isLogin && known instanceof EngineError && known.status === "UNAUTHENTICATED") {
      endSession(session.token, "refused");
    }
    throw known;
  }
};

/** The transport of AdminService. */
export function adminTransport(engineUrl: string): Transport {
  return createConnectTransport({
    baseUrl: engineUrl,
    useBinaryFormat: false,
    defaultTimeoutMs: TIMEOUT_MS,
    fetch: engineFetch(engineUrl),
    interceptors: [withSession],
  });
}

export type Method = "GET" | "POST" | "PATCH" | "DELETE";

/** Calls of /api/v1/admin. They reject with RestError, UnreachableError or EngineError. */
export type AdminHttp = (method: Method, path: string, options?: HttpOptions) => Promise<unknown>;

interface HttpOptions {
  body?: object;
  /** Why a change is made; the audit trail keeps it. */
  reason?: string;
  signal?: AbortSignal;
}

/** The header that tells the engine why a change is made. Letters beyond Latin-1 cannot stand in a header as they are. */
export function reasonHeader(reason: string): Record<string, string> {
  return { "X-Operator-Reason": encodeURIComponent(reason) };
}

/** The routes of an engine under /api/v1/admin, with the session's token. */
export function adminHttp(engineUrl: string): AdminHttp {
  const send = engineFetch(engineUrl);
  return async (method, path, { body, reason, signal } = {}) => {
    const session = currentSession();
    const timeout = AbortSignal.timeout(TIMEOUT_MS);
    const response = await send(`${engineUrl}/api/v1/admin${path}`, {
      method,
      headers: {
        Accept: "application/json",
        ...(session ? { Authorization: `Bearer ${session.token}` } : {}),
        ...(body ? { "Content-Type": "application/json" } : {}),
        ...(reason === undefined ? {} : reasonHeader(reason)),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    }).catch((error: unknown) => {
      throw timeout.aborted ? new EngineError("DEADLINE_EXCEEDED", "the engine took too long") : error;
    });
    const content: unknown = await response.json().catch(() => null);
    if (response.ok) return content;
    if (response.status === UNAUTHORIZED && session) endSession(session.token, "refused");
    throw restError(response.status, content);
  };
}

function restError(status: number, content: unknown): Error {
  if (typeof content !== "object" || content === null) return httpError(status);
  const { message, code } = content as { message?: unknown; code?: unknown };
  if (typeof message !== "string") return httpError(status);
  return new RestError(status, typeof code === "string" ? code : "", message);
}
