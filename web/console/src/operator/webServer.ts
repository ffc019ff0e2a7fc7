/** Calls of what the web server itself serves to the console, with the operator's session. */
import { WebServerError } from "../engine/errors.ts";
import { endSession } from "../engine/session.ts";
import type { Edge } from "./client.ts";

const TIMEOUT_MS = 20_000;
const UNAUTHORIZED = 401;

/** The body of a response. Rejects with WebServerError, whose message is the reason that was given. */
export async function callWebServer(
  edge: Edge,
  method: "GET" | "POST",
  path: string,
  options: { body?: object; key?: string; signal?: AbortSignal; endsSession?: boolean } = {},
): Promise<unknown> {
  const { body, key, signal, endsSession = false } = options;
  const token = await edge.token();
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  let response: Response;
  try {
    response = await fetch(`/console${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${token ?? ""}`,
        ...(body ? { "Content-Type": "application/json" } : {}),
        ...(key === undefined ? {} : { "Idempotency-Key": key }),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new WebServerError(0, `no response from ${location.origin}`);
  }
  const content: unknown = await response.json().catch(() => null);
  if (response.ok) return content;
  if (response.status === UNAUTHORIZED && endsSession && token !== null) {
    // Ends the engine's session if it signed the call; a user's is renewed, or ends itself.
    endSession(token, "refused");
    await edge.token(token);
  }
  throw new WebServerError(response.status, reasonOf(content, response.status));
}

function reasonOf(content: unknown, status: number): string {
  const message = typeof content === "object" && content !== null && "message" in content && content.message;
  if (typeof message === "string") return message;
  if (Array.isArray(message)) return message.join("; ");
  return `the web server returned ${status}`;
}
