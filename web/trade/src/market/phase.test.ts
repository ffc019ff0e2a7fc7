import { describe, expect, it } from "vitest";
import { isInterruption, phaseTitle } from "./phase.ts";

const NOW = Date.UTC(2026, 10, 22, 21, 0, 0);
const LATER = Date.UTC(2026, 10, 22, 21, 30, 5);
const TOMORROW = Date.UTC(2026, 10, 23, 8, 0, 0);
const PHASES = ["halted", "cancel-only", "post-only", "auction", "uncrossing"] as const;

const title = (phase: (typeof PHASES)[number], phaseEndsAt: number | null | undefined, zone = "UTC") =>
  phaseTitle({ phase, phaseEndsAt }, zone, NOW);

describe("the title of a phase", () => {
  it("says until when an operator's phase lasts, if an end is set", () => {
    expect(PHASES.map((phase) => title(phase, LATER))).toEqual([
      "Halted until 21:30:05",
      "Cancel-only until 21:30:05",
      "Post-only until 21:30:05",
      "Auction until 21:30:05",
      "Auction",
    ]);
    const names = ["Halted", "Cancel-only", "Post-only", "Auction", "Auction"];
    for (const none of [null, undefined]) expect(PHASES.map((phase) => title(phase, none))).toEqual(names);
  });

  it("has the day of an end that is not today where the reader is", () => {
    expect(title("halted", TOMORROW)).toBe("Halted until 23 Nov 2026 08:00:00");
    // There it is 02:30 of the next day already.
    expect(title("halted", TOMORROW, "Asia/Kolkata")).toBe("Halted until 13:30:00");
  });

  it("tells an auction that the exchange began from an operator's", () => {
    const auction = { phase: "auction", phaseCause: "volatility", phaseEndsAt: LATER } as const;
    expect(phaseTitle(auction, "UTC", NOW)).toBe("Volatility auction until 21:30:05");
    expect([isInterruption(auction), isInterruption({ phase: "auction" })]).toEqual([true, false]);
  });
});
