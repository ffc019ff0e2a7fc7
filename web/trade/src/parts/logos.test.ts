import { expect, it } from "vitest";
import { logosOf } from "./logos.ts";

it("knows the picture of an asset from the markets where it is base or quote", () => {
  const markets = [
    { baseAsset: "DOGE", quoteAsset: "USD", logo: "doge", quoteLogo: "" },
    { baseAsset: "ETH", quoteAsset: "BTC", logo: "", quoteLogo: "bitcoin" },
  ];
  expect([...logosOf(markets)]).toEqual([
    ["DOGE", "doge"],
    ["BTC", "bitcoin"],
  ]);
});
