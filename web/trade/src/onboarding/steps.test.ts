import { describe, expect, it } from "vitest";
import { firstSteps } from "./steps.ts";

const NOTHING = { emailVerified: false, mfaEnabled: false, hasDeposited: false, hasOrdered: false };
const done = (progress: typeof NOTHING) =>
  firstSteps(progress, "BTC-USD")
    .filter(({ isDone }) => isDone)
    .map(({ id }) => id);

describe("the first steps", () => {
  it("are done one by one, in any order", () => {
    expect(done(NOTHING)).toEqual([]);
    expect(done({ ...NOTHING, emailVerified: true })).toEqual(["mail"]);
    expect(done({ ...NOTHING, mfaEnabled: true })).toEqual(["factor"]);
    expect(done({ ...NOTHING, hasDeposited: true })).toEqual(["deposit"]);
    expect(done({ ...NOTHING, hasOrdered: true })).toEqual(["order"]);
  });

  it("lead to where each is done", () => {
    expect(firstSteps(NOTHING, "SOL-BRL").map(({ way }) => way.href)).toEqual([
      "/account/security",
      "/account/security",
      "/wallet?deposit=any",
      "/SOL-BRL",
    ]);
  });
});
