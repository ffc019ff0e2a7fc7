/** What the pages say of a failure is true: above all, whether they try again by themselves. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { RefusedError, UnreachableError, whileUnreached } from "./errors.ts";
import { explain } from "./messages.ts";

const ADDRESS = "https://exchange.example";
const adviceOf = (error: unknown) => explain(error).advice;

// A browser with a network, unless a test says otherwise: Node's has none.
beforeEach(() => void vi.stubGlobal("navigator", { onLine: true }));

afterEach(() => void vi.unstubAllGlobals());

it("what is asked without a response is asked again, and the page says so", () => {
  const error = new UnreachableError(ADDRESS, true);
  expect(adviceOf(error)).toContain("The page tries again by itself");
  expect(whileUnreached({ state: { error } })).toBe(5_000);
});

it("what is sent without a response is not sent again, and the page says so", () => {
  expect(adviceOf(new UnreachableError(ADDRESS, false))).toContain("does not send this again by itself");
});

it("without a network both are said, too", () => {
  vi.stubGlobal("navigator", { onLine: false });
  expect(adviceOf(new UnreachableError(ADDRESS, true))).toContain("The page goes on by itself");
  expect(adviceOf(new UnreachableError(ADDRESS, false))).toContain("does not send this again by itself");
});

it("what was refused is not asked again for that, and nothing says so", () => {
  const error = new RefusedError(503, { message: "starting" }, null);
  expect(adviceOf(error)).toBe("It may be starting: try again in a few seconds.");
  expect(whileUnreached({ state: { error } })).toBe(false);
  expect(whileUnreached({ state: { error: null } })).toBe(false);
});
