import { describe, expect, it } from "vitest";
import { amountText, shownText } from "./assetPlaces.ts";

describe("the digits of an amount", () => {
  it.each([
    ["100", "USD", "100"],
    ["100.5", "USD", "100.5"],
    ["0.607", "EUR", "0.607"],
    ["1234.567899", "USD", "1234.5678"],
    ["-1234.567899", "USD", "-1234.5678"],
    ["0.00001", "USD", "0.00001"],
    ["0.123456789012345678", "BTC", "0.123456789012345678"],
    ["no number", "USD", "no number"],
  ])("of %s %s are those of %s: cut, never rounded up, and never to nothing", (value, asset, text) => {
    expect(shownText(value, asset).text).toBe(text);
  });

  it("are those of a sentence, too", () => {
    expect([
      amountText("17430.17589975", "USD"),
      amountText("71", "USD"),
      amountText("1234.5", "SOL"),
    ]).toEqual(["17,430.1758", "71.00", "1,234.5"]);
  });

  it("are two for money, and four where there are parts of a cent", () => {
    const places = ["1", "1.50", "1.505", "1.50001"].map((value) => shownText(value, "USD").places);
    expect(places).toEqual([2, 2, 4, 2]);
    expect(shownText("1", "BTC").places).toBe(0);
  });
});
