/** The ways in which a request to the REST edge fails. */

/** The edge understood the request and refused it. */
export class RefusedError extends Error {
  readonly status: number;
  /** A code such as INSUFFICIENT_BALANCE; empty if a gateway answered. */
  readonly code: string;
  /** One reason, or one for each bad field. */
  readonly reasons: readonly string[];
  /** Seconds until the edge takes such a request again, or null. */
  readonly retryAfter: number | null;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(status: number, body: unknown, retryAfter: number | null) {
    const { message, code, details } = (typeof body === "object" && body !== null ? body : {}) as {
      message?: unknown;
      code?: unknown;
      details?: unknown;
    };
    const reasons = (Array.isArray(message) ? message : [message]).filter(
      (reason): reason is string => typeof reason === "string" && reason !== "",
    );
    super(reasons.join("; ") || `the exchange returned ${status}`);
    this.name = "RefusedError";
    this.status = status;
    this.code = typeof code === "string" ? code : "";
    this.reasons = reasons;
    this.retryAfter = retryAfter;
    this.details =
      typeof details === "object" && details !== null ? (details as Record<string, unknown>) : {};
  }

  /** The reason that names a field, without the field: "price must be positive" → "must be positive". */
  reasonFor(field: string): string | null {
    const found = this.reasons.find(
      (reason) => reason.startsWith(`${field} `) || reason.startsWith(`${field}:`),
    );
    return found ? found.slice(field.length).replace(/^:?\s*/, "") : null;
  }
}

/** No response came. The request may have arrived or not. */
export class UnreachableError extends Error {
  readonly address: string;
  /** Whether the page asks again by itself. What a user sends it never repeats. */
  readonly isAskedAgain: boolean;

  constructor(address: string, isAskedAgain: boolean) {
    super(`no response from ${address}`);
    this.name = "UnreachableError";
    this.address = address;
    this.isAskedAgain = isAskedAgain;
  }
}

const ASKED_AGAIN_MS = 5_000;

/** How soon a query is read again that is not read again anyway: soon after no response came, else never. */
export function whileUnreached({ state }: { state: { error: unknown } }): number | false {
  return state.error instanceof UnreachableError ? ASKED_AGAIN_MS : false;
}

/** The codes with status 503 that are decisions: nothing was done. */
const DECISIONS: ReadonlySet<string | undefined> = new Set(["NO_MARK_PRICE", "PRICE_NOT_SURE"]);

/** Whether a request that failed with this error may have been carried out. */
export function isOutcomeUnknown(error: unknown): boolean {
  if (error instanceof RefusedError) return error.status >= 500 && !DECISIONS.has(error.code);
  return error instanceof UnreachableError;
}

/** Refusals before the edge looks what became of an earlier request with the same key. */
const UNLOOKED: readonly number[] = [401, 403, 408, 429];

/**
 * Whether this error says for sure that nothing was done: not by the request that failed with it, nor, if that was a
 * repetition, by an earlier one with its key. A response that ends in the middle says nothing.
 */
export function isRefusal(error: unknown, isRepeated: boolean): boolean {
  if (!(error instanceof RefusedError) || isOutcomeUnknown(error)) return false;
  if (error.code === "IDEMPOTENCY_KEY_IN_USE") return false;
  return !isRepeated || !UNLOOKED.includes(error.status);
}
