import { describe, expect, it } from "vitest";
import { addressFault } from "./addressFormat.ts";

describe("addresses", () => {
  it.each([
    ["bitcoin", "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx"],
    ["bitcoin", "TB1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KXPJZSX"],
    ["bitcoin", "mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn"],
    ["ethereum", "0xde709f2102306220921060314715629080e2fb77"],
    ["solana", "So11111111111111111111111111111111111111112"],
    ["tron", "TJRyWwFs9wTFGZg3JbrVriFbNfCug5tDeC"],
    ["stellar", "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ"],
    ["wire", "021000021:100200300"],
    ["ted", "BR18 0036 0305 0000 1000 9795 493C 1"],
    ["a-network-of-tomorrow", "anything"],
  ])("of %s: %s has the form", (network, address) => {
    expect(addressFault(network, address)).toBeNull();
  });

  it.each([
    ["bitcoin", "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"],
    ["ethereum", "0xde709f2102306220921060314715629080e2fb7"],
    ["solana", "0o11111111111111111111111111111111111111112"],
    ["tron", "0xde709f2102306220921060314715629080e2fb77"],
    ["stellar", "GA7QYNF7SOWQ3GLR2BGMZEHX"],
    ["wire", "021000021"],
    ["ted", "18BR"],
  ])("of %s: %s has not", (network, address) => {
    expect(addressFault(network, address)).toMatch(/[.]$/);
  });
});
