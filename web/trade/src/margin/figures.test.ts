import { describe, expect, it } from "vitest";
import { toScaled } from "#lib/scaled.ts";
import {
  cutTo,
  fairPriceOf,
  figuresOf,
  holdingsOf,
  inCents,
  levelOf,
  liquidationPrice,
  marksOf,
  percentOf,
  scaleShare,
  unrealised,
  riskBandOf,
  readablePrice,
} from "./figures.ts";
import { priceOf } from "./testPrices.ts";
import type { MarginBalance, MarginPosition, MarginPrice } from "./queries.ts";

const balance = (asset: string, total: string, borrowed = "0", interest = "0"): MarginBalance => ({
  asset,
  total,
  available: total,
  borrowed,
  interest,
  isOffered: true,
});
const marks = marksOf({ prices: [priceOf("USD", "1"), priceOf("BTC", "100")] });

describe("marks", () => {
  it("say why a price is not sure", () => {
    const of = (state: MarginPrice["state"], reason: string) =>
      marksOf({ prices: [{ ...priceOf("BTC", "100"), state, reason }] }).get("BTC")?.unsure;
    expect(of("good", "")).toBeNull();
    expect(of("thin", "only one source")).toBeNull();
    expect(of("stale", "nobody trades")).toBe("the price of BTC is stale: nobody trades");
    expect(of("disputed", "")).toBe("the price of BTC is disputed: wait until its sources agree again");
  });
});

describe("level", () => {
  it("is what is held over what is owed, interest included", () => {
    const figures = figuresOf(holdingsOf([balance("BTC", "3"), balance("USD", "10", "199", "1")]), marks);
    expect(figures && levelOf(figures)).toBe(toScaled("1.55"));
  });

  it("is rounded up, so that 105 % is shown only at or below it", () => {
    expect(levelOf({ assets: 1n, debt: 3n })).toBe(333333333333333334n);
    expect(percentOf(toScaled("1.050000000000000001"))).toBe("105.01 %");
    expect(riskBandOf(toScaled("1.050000000000000001"))).toBe("warning");
    expect(riskBandOf(toScaled("1.05"))).toBe("liquidation");
    expect(riskBandOf(toScaled("1.5"))).toBe("warning");
    expect(riskBandOf(toScaled("1.500000000000000001"))).toBe("safe");
    expect(riskBandOf(null)).toBe("safe");
  });

  it("is not known while an asset has no price, and none without a debt", () => {
    expect(figuresOf(holdingsOf([balance("SOL", "1")]), marks)).toBeNull();
    expect(figuresOf(holdingsOf([balance("SOL", "0"), balance("USD", "1")]), marks)).not.toBeNull();
    expect(levelOf({ assets: 5n, debt: 0n })).toBeNull();
  });

  it.each([
    ["0.9", 0],
    ["1", 0],
    ["1.05", 0.2],
    ["1.275", 0.35],
    ["1.5", 0.5],
    ["2.25", 0.75],
    ["3", 1],
    ["70", 1],
  ])("stands on its scale at the part of its risk band: %s", (level, share) => {
    expect(scaleShare(toScaled(level))).toBe(share);
  });

  it("stands at the end of its scale without a debt", () => {
    expect(scaleShare(null)).toBe(1);
  });
});

describe("liquidation price", () => {
  it("of a long is where the assets are 105 % of the debt", () => {
    const holdings = holdingsOf([balance("BTC", "10"), balance("USD", "0", "800")]);
    expect(liquidationPrice(holdings, marks, "BTC", "USD")).toBe(toScaled("84"));
  });

  it("of a short is above the price", () => {
    const holdings = holdingsOf([balance("BTC", "0", "10"), balance("USD", "1260")]);
    expect(liquidationPrice(holdings, marks, "BTC", "USD")).toBe(toScaled("120"));
  });

  it("is none where no price of the asset leads there", () => {
    const holdings = holdingsOf([balance("BTC", "1"), balance("USD", "1000", "10")]);
    expect(liquidationPrice(holdings, marks, "BTC", "USD")).toBeNull();
  });
});

describe("texts", () => {
  it("rounds values down, losses too", () => {
    expect(inCents(toScaled("1.239"))).toBe("1.23");
    expect(inCents(toScaled("-1.231"))).toBe("-1.24");
  });

  it("writes prices with as many digits as tell them apart", () => {
    const shown = (price: string) => readablePrice(toScaled(price));
    expect(shown("3001.0616615548")).toBe("3001.06");
    expect(shown("99.123456")).toBe("99.123");
    expect(shown("0.08423456")).toBe("0.084234");
    expect(shown("0")).toBe("0");
  });

  it("cuts amounts to the digits of their asset", () => {
    expect(cutTo(toScaled("1.239"), 2)).toBe("1.23");
    expect(cutTo(toScaled("-1"), 2)).toBe("0");
    expect(cutTo(1n, 18)).toBe("0.000000000000000001");
  });
});

describe("unrealised result", () => {
  const position = { side: "buy", quantity: "2", entryPrice: "100" } as MarginPosition;

  it("is the difference of the prices for the open quantity, the other way round for a short", () => {
    expect(unrealised(position, toScaled("90"))).toBe(toScaled("-20"));
    expect(unrealised({ ...position, side: "sell" }, toScaled("90"))).toBe(toScaled("20"));
  });

  it("is at the fair price, through the valuation asset", () => {
    const prices = marksOf({ prices: [priceOf("BTC", "100"), priceOf("BRL", "0.2")] });
    expect(fairPriceOf("BTC-BRL", prices)).toBe(toScaled("500"));
    expect(fairPriceOf("SOL-BRL", prices)).toBeNull();
  });

  it("is not known without a price", () => {
    expect(unrealised(position, null)).toBeNull();
    expect(unrealised({ ...position, entryPrice: null }, toScaled("90"))).toBeNull();
  });
});
