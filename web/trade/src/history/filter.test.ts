import { describe, expect, it } from "vitest";
import { fileName, readFilter } from "./filter.ts";

const read = (query: string, zone = "UTC") => {
  const parameters = new URLSearchParams(query);
  return readFilter((name) => parameters.get(name) ?? "", "asset", zone);
};

describe("the filter of the history", () => {
  it("keeps all where nothing was entered", () => {
    const filter = read("market=BTC-USD");
    expect(filter.wanted).toEqual({ subject: "", from: null, to: null });
    expect(filter.isSet).toBe(false);
  });

  it("counts days in the reader's zone, the last one to its end", () => {
    const { wanted, isSet } = read("asset=BTC&from=2026-11-01&to=2026-11-01", "America/New_York");
    expect(wanted.subject).toBe("BTC");
    expect(new Date(wanted.from ?? 0).toISOString()).toBe("2026-11-01T04:00:00.000Z");
    // The clocks are put back that night.
    expect(new Date(wanted.to ?? 0).toISOString()).toBe("2026-11-02T05:00:00.000Z");
    expect(isSet).toBe(true);
  });

  it("says what is wrong, and filters nothing by it", () => {
    const wrong = read("asset=<b>&from=0026-11-01&to=soon");
    expect(wrong.wanted).toEqual({ subject: "", from: null, to: null });
    expect([wrong.fromFault, wrong.toFault]).toEqual([
      expect.stringContaining("2000"),
      expect.stringContaining("2000"),
    ]);
    const turned = read("from=2026-11-02&to=2026-11-01");
    expect([turned.fromFault, turned.toFault]).toEqual([null, "This day is before the first."]);
    expect(read("from=2026-11-02&to=2026-11-02").toFault).toBeNull();
  });

  it("names the file", () => {
    expect(fileName("orders", "", "", "")).toBe("openspot-orders.csv");
    expect(fileName("fills", "BTC-USD", "2026-11-01", "2026-11-22")).toBe(
      "openspot-fills-BTC-USD-from-2026-11-01-to-2026-11-22.csv",
    );
  });
});
