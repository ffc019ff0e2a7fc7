import { describe, expect, it } from "vitest";
import {
  canDelist,
  delistingSchedule,
  draftOf,
  EMPTY_DRAFT,
  type ListingDraft,
  newListing,
  STATUSES,
  typingFaults,
} from "./listings.ts";

const DRAFT: ListingDraft = {
  ...EMPTY_DRAFT,
  base: "DOGE",
  assetName: " Dogecoin ",
  logo: "doge",
  tickSize: "0.0001",
  lotSize: "0.1",
  makerFee: "-5",
  quantityMin: "1",
  quantityMax: "1000",
  auctionAt: "2027-01-04T11:30",
  openAt: "2027-01-04T12:00",
  reason: " asked for by many ",
};

describe("draftOf", () => {
  it("has what a symbol that was created alone has already, and asks for the rest", () => {
    const market = {
      symbol: "DOGE-USD",
      baseCurrency: "DOGE",
      quoteCurrency: "USD",
      tickSize: "0.0001",
      lotSize: "0.1",
      takerFee: 10,
      makerFee: -5,
      active: true,
      phase: "continuous" as const,
      phaseEndsAt: 0,
      phaseCause: "" as const,
      version: "one",
      terms: null,
    };
    expect(draftOf(market)).toEqual({
      ...EMPTY_DRAFT,
      base: "DOGE",
      isNewAsset: false,
      tickSize: "0.0001",
      lotSize: "0.1",
      takerFee: "10",
      makerFee: "-5",
      quantityMin: "0.1",
    });
  });
});

describe("delistingSchedule", () => {
  it("adds the delisting to what follows, in place of one of before, at a time in UTC", () => {
    const open = { status: "open" as const, at: Date.UTC(2027, 0, 1) };
    const known = [open, { status: "delisting" as const, at: Date.UTC(2027, 0, 2) }];
    expect(delistingSchedule(known, "2027-01-04T12:00")).toEqual([
      open,
      { status: "delisting", at: Date.UTC(2027, 0, 4, 12) },
    ]);
    expect(delistingSchedule(known, "soon")).toBeNull();
  });
});

describe("newListing", () => {
  it("makes the whole body of a draft, with times in UTC", () => {
    expect(newListing(DRAFT)).toEqual({
      symbol: "DOGE-USD",
      asset: { currency: "DOGE", name: "Dogecoin", places: 8, logo: "doge" },
      name: "",
      announcement: "",
      tickSize: "0.0001",
      lotSize: "0.1",
      takerFee: 25,
      makerFee: -5,
      quantityMin: "1",
      quantityMax: "1000",
      notionalMin: "1",
      notionalMax: "1000000",
      deviationBpsMax: 2000,
      slippageBpsMax: 500,
      status: "announced",
      schedule: [
        { status: "auction", at: Date.UTC(2027, 0, 4, 11, 30) },
        { status: "open", at: Date.UTC(2027, 0, 4, 12) },
      ],
      reason: "asked for by many",
    });
  });

  it("leaves the asset out where it is known", () => {
    expect(newListing({ ...DRAFT, isNewAsset: false })).not.toHaveProperty("asset");
  });

  it.each([
    { base: "" },
    { quote: "" },
    { tickSize: "" },
    { lotSize: "0" },
    { quantityMax: "many" },
    { takerFee: "" },
    { makerFee: "1.5" },
    { deviationBpsMax: "" },
    { slippageBpsMax: "x" },
    { assetPlaces: "" },
    { openAt: "soon" },
  ])("is nothing while something is missing: %o", (change) => {
    expect(newListing({ ...DRAFT, ...change })).toBeNull();
  });

  it("can be checked before there is a reason", () => {
    expect(newListing({ ...DRAFT, reason: "x" })?.reason).toBe("not given yet");
  });
});

describe("typingFaults", () => {
  it("names what is no number, and no empty field", () => {
    expect(typingFaults(EMPTY_DRAFT)).toEqual({});
    expect(
      Object.keys(
        typingFaults({ ...DRAFT, tickSize: "0", notionalMax: "x", takerFee: "1.5", assetPlaces: "-1" }),
      ).toSorted((a, b) => a.localeCompare(b, "en")),
    ).toEqual(["assetPlaces", "notionalMax", "takerFee", "tickSize"]);
  });
});

describe("statuses", () => {
  it("go forward, and a delisted market is announced again", () => {
    const following = Object.fromEntries(
      Object.entries(STATUSES).map(([status, described]) => [status, described.following]),
    );
    expect(following).toEqual({
      announced: ["post-only", "auction", "open"],
      "post-only": ["auction", "open"],
      auction: ["open"],
      open: [],
      delisting: [],
      delisted: ["announced"],
    });
    expect((["open", "announced", "delisting", "delisted"] as const).map(canDelist)).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });
});
