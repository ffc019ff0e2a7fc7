import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import {
  EdgeError,
  EngineError,
  hasDoneNothing,
  httpError,
  RefusedError,
  RestError,
  statusName,
  toEngineError,
  UnreachableError,
} from "./engine/errors.ts";
import {
  checkFees,
  checkSymbol,
  newSymbol,
  parseBasisPoints,
  readCurrencies,
  readSymbols,
} from "./engine/markets.ts";
import { readSession } from "./engine/session.ts";
import { explain, secondsToWait } from "./engine/messages.ts";
import { outcomeOf } from "./operator/alerts.ts";
import { amountFault, previewAdjustment } from "./parts/adjustment.ts";
import { comparedWith, referenceFault, rowsOf } from "./people/treasury.ts";
import { isCurrent, NAVIGATION } from "./frame/navigation.tsx";

// spec: A7-17
describe("errors of the engine", () => {
  it("are shown as Document A 7 writes them", () => {
    const error = toEngineError(new ConnectError("the token has expired", Code.Unauthenticated));
    expect(error.message).toBe("gRPC error: UNAUTHENTICATED - the token has expired");
    expect(explain(error).detail).toBe("gRPC error: UNAUTHENTICATED - the token has expired");
  });

  it("are shown the same where Connect has wrapped them", () => {
    const wrapped = ConnectError.from(new EngineError("INTERNAL", "internal error"));
    expect(explain(wrapped)).toEqual(explain(new EngineError("INTERNAL", "internal error")));
    const silent = ConnectError.from(new UnreachableError("http://h:8090"));
    expect(explain(silent).title).toBe(explain(new UnreachableError("http://h:8090")).title);
  });

  it("have gRPC's names", () => {
    expect(statusName(Code.ResourceExhausted)).toBe("RESOURCE_EXHAUSTED");
    expect(statusName(Code.Internal)).toBe("INTERNAL");
  });

  it("keep what the transport's fetch has found out", () => {
    const found = new UnreachableError("http://h:8090");
    expect(toEngineError(ConnectError.from(found))).toBe(found);
    expect(httpError(415).message).toBe("gRPC error: 415 - Unsupported Media Type");
    expect(httpError(418).message).toBe("gRPC error: 418 - HTTP error");
  });

  it("name the field of a refusal", () => {
    expect(new RefusedError("participantId: alice already exists").field).toBe("participantId");
    expect(new RefusedError("password must have 8 to 256 letters").field).toBe("password");
    expect(new RefusedError("The engine said no").field).toBe("");
  });
});

describe("messages", () => {
  const failures = [
    ...[
      "UNAUTHENTICATED",
      "PERMISSION_DENIED",
      "INVALID_ARGUMENT",
      "RESOURCE_EXHAUSTED",
      "UNAVAILABLE",
      "INTERNAL",
    ],
    ...["DEADLINE_EXCEEDED", "UNIMPLEMENTED", "404", "415", "502", "503", "SOMETHING_NEW"],
  ].map((status) => new EngineError(status, "why"));

  it.each([
    ...failures,
    new UnreachableError("http://h:8090"),
    new RefusedError("participantId or password is wrong"),
    new RefusedError("amount is more than the participant's free funds", "RISK_NSF"),
    new RestError(409, "SYMBOL_HAS_OPEN_ORDERS", "BTC-USD: SYMBOL_HAS_OPEN_ORDERS"),
    new RestError(400, "SOMETHING_NEW", "tickSize must be positive"),
    new TypeError("x is not a function"),
    "a text",
  ])("say what happened and what to do: %s", (error) => {
    const { title, detail, advice } = explain(error);
    expect(title).toMatch(/^[A-Z].*[^.]$/);
    expect(advice).toMatch(/^[A-Z].*\.$/s);
    expect(detail).not.toBe("");
  });

  it("go by the reason where it says more than the status", () => {
    const busy = new EngineError("RESOURCE_EXHAUSTED", "ENGINE_BUSY: the engine did not take the command");
    expect(explain(busy).title).toBe("The engine is busy");
  });

  it("tell how long a login has to wait", () => {
    expect(secondsToWait(new EngineError("RESOURCE_EXHAUSTED", "too many logins, try again in 17 s"))).toBe(
      17,
    );
    expect(secondsToWait(new EngineError("RESOURCE_EXHAUSTED", "too many logins at a time"))).toBe(0);
    expect(secondsToWait(new Error("try again in 17 s"))).toBe(0);
  });
});

describe("a kept session", () => {
  const session = {
    token: "t",
    participantId: "admin",
    name: "admin",
    type: "SUPER_ADMIN",
    expiresAt: 2_000,
  };

  it("is taken while it lasts", () => {
    expect(readSession(JSON.stringify(session), 1_999)).toEqual(session);
    expect(readSession(JSON.stringify(session), 2_000)).toBeNull();
  });

  // spec: A5-24, A5-25, A5-26
  it.each(["MAKER", "TAKER", "BOTH", "BROKER", "", "super_admin"])("of type %j is none", (type) => {
    expect(readSession(JSON.stringify({ ...session, type }), 0)).toBeNull();
    expect(readSession(JSON.stringify({ ...session, type: "SYSTEM" }), 0)).not.toBeNull();
  });

  it.each([null, "", "null", "[]", "{", '{"token":"t"}', JSON.stringify({ ...session, expiresAt: "2000" })])(
    "is not made of %j",
    (text) => {
      expect(readSession(text, 0)).toBeNull();
    },
  );
});

describe("an adjustment", () => {
  it.each([
    ["", "Enter an amount."],
    ["1e3", "Enter a plain decimal, such as 12.50."],
    ["0", "The amount must be more than zero; the type says which way it goes."],
    ["-1", "The amount must be more than zero; the type says which way it goes."],
    ["0.0000000000000000001", "At most 18 digits after the point."],
    ["0.000000000000000001", ""],
  ])("of %j: %j", (amount, fault) => {
    expect(amountFault(amount)).toBe(fault);
  });

  it("is previewed exactly", () => {
    const balance = { total: "100.25", available: "40.25" };
    expect(previewAdjustment(balance, "DEPOSIT", "0.000000000000000001")).toEqual({
      total: { before: "100.25", after: "100.250000000000000001" },
      available: { before: "40.25", after: "40.250000000000000001" },
      isTooMuch: false,
    });
    expect(previewAdjustment(balance, "WITHDRAW", "40.25").isTooMuch).toBe(false);
    expect(previewAdjustment(balance, "WITHDRAW", "40.26").isTooMuch).toBe(true);
    expect(previewAdjustment(undefined, "DEPOSIT", "1").total).toEqual({ before: "0", after: "1" });
  });
});

describe("a new symbol", () => {
  const draft = {
    baseCurrency: "BTC",
    quoteCurrency: "USD",
    symbolId: "",
    tickSize: "0.01",
    lotSize: "0.00000001",
    takerFee: "20",
    makerFee: "-5",
  };
  const faults = (change: Partial<typeof draft>) =>
    Object.fromEntries(
      checkSymbol({ ...draft, ...change }, ["BTC", "USD", "EUR"], [{ symbol: "BTC-EUR", symbolId: 7 }])
        .filter(({ fault }) => fault !== "")
        .map(({ id, fault }) => [id, fault]),
    );

  it("keeps every rule", () => {
    expect(faults({})).toEqual({});
    expect(newSymbol({ ...draft, symbolId: "12" })).toEqual({
      symbol: "BTC-USD",
      symbolId: 12,
      lotSize: "0.00000001",
      tickSize: "0.01",
      takerFee: 20,
      makerFee: -5,
    });
    expect(newSymbol(draft)).not.toHaveProperty("symbolId");
  });

  it.each([
    [{ baseCurrency: "USD" }, "pair"],
    [{ baseCurrency: "XYZ" }, "pair"],
    [{ quoteCurrency: "EUR" }, "name"],
    [{ tickSize: "0" }, "tickSize"],
    [{ lotSize: "-1" }, "lotSize"],
    [{ tickSize: "0.0000001" }, "scale"],
    [{ takerFee: "1001" }, "takerFee"],
    [{ takerFee: "1.5" }, "takerFee"],
    [{ makerFee: "-21" }, "makerFee"],
    [{ makerFee: "1001" }, "makerFee"],
    [{ symbolId: "7" }, "symbolId"],
    [{ symbolId: "0" }, "symbolId"],
  ])("with %j breaks %s", (change, rule) => {
    expect(faults(change)[rule]).toMatch(/\.$/);
  });

  it("leaves open what cannot be checked yet", () => {
    expect(Object.values(faults({ baseCurrency: "", tickSize: "" }))).toEqual([null, null, null, null]);
  });

  it("has fees in whole basis points", () => {
    expect([
      parseBasisPoints("-5"),
      parseBasisPoints("0"),
      parseBasisPoints("--5"),
      parseBasisPoints("-"),
    ]).toEqual([-5, 0, null, null]);
    expect(checkFees("20", "20")).toEqual({ taker: "", maker: "" });
    expect(checkFees("x", "0").taker).not.toBe("");
  });
});

describe("lists of the engine", () => {
  const currency = { currency: "BTC", currencyId: 1, name: "Bitcoin", places: 8, logo: "" };

  it("are taken in the expected shape alone", () => {
    expect(readCurrencies([currency])).toEqual([currency]);
    for (const bad of [null, {}, [null], [{ ...currency, places: "8" }]]) {
      expect(() => readCurrencies(bad)).toThrow(/currencies/);
    }
    expect(() => readSymbols([currency])).toThrow(/symbols/);
  });
});

describe("the navigation", () => {
  const entries = NAVIGATION.flatMap((group) => group.entries);

  it("has one entry for each address and key", () => {
    expect(new Set(entries.map(({ path }) => path)).size).toBe(entries.length);
    expect(new Set(entries.map(({ key }) => key)).size).toBe(entries.length);
  });

  it("marks the page that is open, deeper ones included", () => {
    const current = (location: string) =>
      entries.filter((entry) => isCurrent(entry, location)).map(({ path }) => path);
    expect(current("/")).toEqual(["/"]);
    expect(current("/participants/new")).toEqual(["/participants"]);
    expect(current("/participantsx")).toEqual([]);
  });
});

describe("a refusal of the edge", () => {
  it("says whether the same key may still bring the outcome", () => {
    const refusal = (status: number, code = "") => hasDoneNothing(new EdgeError(status, code, "no"));
    expect(refusal(400)).toBe(true);
    expect(refusal(409, "REFERENCE_COUNTS_ALREADY")).toBe(true);
    expect(refusal(409, "TRANSACTION_IN_PROGRESS")).toBe(false);
    expect(refusal(0)).toBe(false);
    expect(refusal(503)).toBe(false);
    expect(hasDoneNothing(new Error("of the page"))).toBe(false);
  });
});

describe("the treasury", () => {
  it("shows an account without anything, too", () => {
    const account = {
      account: "house:fees",
      purpose: "fees",
      closedBecause: null,
      closedToOutsideBecause: null,
      balances: [],
    };
    expect(rowsOf([account])).toEqual([{ account, balance: null }]);
  });

  it("takes a difference for one when it is the same in two looks", () => {
    const look = (difference: string | null) => [
      {
        account: "house:fees",
        purpose: "fees",
        closedBecause: null,
        closedToOutsideBecause: null,
        balances: [
          {
            asset: "USD",
            engineTotal: "7",
            engineAvailable: "7",
            ledgerTotal: null,
            difference,
            level: null,
            isLow: false,
          },
        ],
      },
    ];
    const settling = (before: string | null | undefined, now: string | null) =>
      comparedWith(before === undefined ? undefined : look(before), look(now))[0]?.balances[0]?.isSettling;
    expect(settling(undefined, "-2")).toBe(true);
    expect(settling("0", "-2")).toBe(true);
    expect(settling("-1", "-2")).toBe(true);
    expect(settling("-2", "-2")).toBe(false);
    expect(settling("-2", "0")).toBe(false);
    expect(settling(undefined, null)).toBe(false);
  });

  it("takes an external reference that the ledger could have", () => {
    expect(referenceFault("SEPA-2026/02#1")).toBe("");
    expect(referenceFault("x".repeat(128))).toBe("");
    for (const bad of ["", "x".repeat(129), "two words", 'a"b', "a\\b", "für"])
      expect(referenceFault(bad)).not.toBe("");
  });
});

describe("a try of an alert", () => {
  it("says what became of it by destination", () => {
    const destinations = [
      { name: "mail a@b.c", fault: "" },
      { name: "webhook https://x", fault: "the receiver answered 500" },
    ];
    expect(outcomeOf({ destinations })).toBe(
      "mail a@b.c: taken; webhook https://x: the receiver answered 500",
    );
  });
});
