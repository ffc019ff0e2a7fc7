/** The ways in which a call of the engine fails. */
import { Code, ConnectError } from "@connectrpc/connect";

/** A call that failed as a whole. The message is the text that Document A 7 prescribes. */
export class EngineError extends Error {
  /** A gRPC status such as UNAUTHENTICATED, or an HTTP status such as 415. */
  readonly status: string;
  readonly text: string;

  constructor(status: string, text: string) {
    super(`gRPC error: ${status} - ${text}`);
    this.name = "EngineError";
    this.status = status;
    this.text = text;
  }
}

/** The engine did not respond at all. */
export class UnreachableError extends Error {
  readonly address: string;

  constructor(address: string) {
    super(`no response from ${address}`);
    this.name = "UnreachableError";
    this.address = address;
  }
}

/** The engine understood a change and refused it: `success` was false. */
export class RefusedError extends Error {
  /** A result code such as RISK_NSF, or an empty text. */
  readonly code: string;

  constructor(message: string, code = "") {
    super(message);
    this.name = "RefusedError";
    this.code = code;
  }

  /** The field that the reason names: "participantId: alice already exists" → "participantId". */
  get field(): string {
    return /^([a-z][A-Za-z]*)(?=:? )/.exec(this.message)?.[1] ?? "";
  }
}

/** A refusal of the routes under /api/v1/admin. */
export class RestError extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.name = "RestError";
    this.status = status;
    this.code = code;
  }
}

/** The web server did not give what it alone knows. `status` is 0 if it did not respond. */
export class WebServerError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = "WebServerError";
    this.status = status;
  }
}

/** The REST edge refused a call. `status` is 0 if it did not respond, `code` says why, such as PERMISSION_MISSING. */
export class EdgeError extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.name = "EdgeError";
    this.status = status;
    this.code = code;
  }
}

/** Whether a request that the edge refused has certainly done nothing: who sends it again, changed, sends another one. */
export function hasDoneNothing(error: unknown): boolean {
  return (
    error instanceof EdgeError &&
    error.status >= 400 &&
    error.status < 500 &&
    // The first request with this key still runs.
    error.code !== "TRANSACTION_IN_PROGRESS"
  );
}

const HTTP_TEXTS: Record<number, string> = {
  403: "Forbidden",
  404: "Not Found",
  413: "Content Too Large",
  415: "Unsupported Media Type",
  429: "Too Many Requests",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout",
};

/** The error of an HTTP status that carries no error of the engine's. */
export function httpError(status: number): EngineError {
  return new EngineError(String(status), HTTP_TEXTS[status] ?? "HTTP error");
}

/** The name of a Connect code as gRPC writes it: Code.NotFound → "NOT_FOUND". */
export function statusName(code: Code): string {
  return ((Code[code] as string | undefined) ?? "Unknown").replace(/(?<=[a-z])(?=[A-Z])/g, "_").toUpperCase();
}

/** Whatever a Connect call threw, as one of the errors above. */
export function toEngineError(error: unknown): Error {
  const connect = ConnectError.from(error);
  // Ours, thrown by the transport's fetch, travels inside.
  if (connect.cause instanceof EngineError || connect.cause instanceof UnreachableError) return connect.cause;
  return new EngineError(statusName(connect.code), connect.rawMessage || "no reason was given");
}

/** The error itself where Connect has wrapped it: an aborted or failed call rejects with a ConnectError around ours. */
export function unwrapped(error: unknown): unknown {
  return error instanceof ConnectError ? toEngineError(error) : error;
}
