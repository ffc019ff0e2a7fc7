import { describe, expect, it } from "vitest";
import { draftOf, EMPTY_NETWORK, networkFaults } from "./networks.ts";

const DOGECOIN = {
  asset: "DOGE",
  network: "dogecoin",
  addressForm: "bitcoin",
  confirmations: 20,
  takesTag: false,
  withdrawalFee: "2",
  withdrawalMinimum: "10",
  depositMinimum: "1",
  listed: true,
};

describe("a draft of a network", () => {
  it("lacks every field at first", () => {
    expect(networkFaults(EMPTY_NETWORK)).toHaveLength(4);
  });

  it("begins with the terms of a network that the coin has", () => {
    expect(networkFaults(draftOf(DOGECOIN))).toEqual([]);
    expect(draftOf(DOGECOIN).withdrawalMinimum).toBe("10");
  });

  it("may have no fee, and no confirmations of half a block", () => {
    expect(networkFaults({ ...draftOf(DOGECOIN), withdrawalFee: "0" })).toEqual([]);
    expect(networkFaults({ ...draftOf(DOGECOIN), confirmations: "1.5" })).toEqual([
      "Confirmations are a whole number.",
    ]);
    expect(networkFaults({ ...draftOf(DOGECOIN), network: "Doge" })).toHaveLength(1);
  });
});
