import { describe, expect, it } from "vitest";
import { nameFault, networksFault, networksOf } from "./keyRules.ts";

describe("allowed addresses of an API key", () => {
  it("are read one a line or between commas, each once", () => {
    expect(networksOf(" 203.0.113.7\n10.0.0.0/8, 203.0.113.7\n\n")).toEqual(["203.0.113.7", "10.0.0.0/8"]);
    expect(networksOf(" \n")).toEqual([]);
  });

  it.each([
    "203.0.113.256",
    "203.0.113",
    "10.0.0.0/33",
    "10.0.0.0/8/8",
    "2001:db8::/129",
    "here",
    "1.2.3.4/",
  ])("may not be %s", (text) => expect(networksFault([text], ["read"])).toContain(text));

  it.each(["203.0.113.255", "10.0.0.0/8", "0.0.0.0/0", "2001:db8::1", "2001:db8::/32"])("may be %s", (text) =>
    expect(networksFault([text], ["read"])).toBeNull(),
  );

  it("are needed, and narrow, for a key that withdraws", () => {
    expect(networksFault([], ["read"])).toBeNull();
    expect(networksFault([], ["read", "withdraw"])).toContain("needs the addresses");
    expect(networksFault(["10.0.0.0/15"], ["withdraw"])).toContain("10.0.0.0/15 is too wide");
    expect(networksFault(["2001:db8::/31"], ["withdraw"])).toContain("too wide");
    expect(networksFault(["10.0.0.0/16", "2001:db8::/32"], ["withdraw"])).toBeNull();
  });

  it("are at most 32", () => {
    const many = Array.from({ length: 33 }, (_, index) => `10.0.0.${index}`);
    expect(networksFault(many, ["read"])).toContain("At most 32");
    expect(networksFault(many.slice(1), ["read"])).toBeNull();
  });
});

describe("the name of an API key", () => {
  it("is printable ASCII", () => {
    expect(nameFault("  ")).not.toBeNull();
    expect(nameFault("Röbot")).not.toBeNull();
    expect(nameFault("bot 1")).toBeNull();
  });
});
