/** Reasons of refusals are said in the language of the page, with their figures; what has no words stays English. */
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { afterEach, beforeEach, expect, it } from "vitest";
import { ProblemNote } from "#lib/components/states.tsx";
import { showLanguage } from "#lib/language.ts";
import { separatorsOf, setSeparators } from "#lib/separators.ts";
import german from "../../languages/reasons/de.json";
import { RefusedError, UnreachableError } from "./errors.ts";
import { fieldReason } from "./fieldReason.ts";
import { explain, reasonsIn, sayReason } from "./messages.ts";
import { sayIn } from "./reasons.ts";

const refusal = (message: unknown, code = "ORDER_REJECTED") => new RefusedError(400, { message, code }, null);
const detailOf = (message: unknown) => explain(refusal(message)).detail;

beforeEach(() => {
  reasonsIn.de = sayIn(german);
  showLanguage("de", {});
  setSeparators(separatorsOf("de"));
});
afterEach(() => {
  delete reasonsIn.de;
  showLanguage("en", {});
  setSeparators(separatorsOf("en"));
});

it("figures of a reason have the separators of the page", () => {
  expect(detailOf("price 1100.123 is not a multiple of the tick 0.01")).toBe(
    "Preis: 1.100,123 ist kein Vielfaches der Schrittweite 0,01",
  );
  expect(detailOf("insufficient USD balance: the order needs 1200.5, 3 is available")).toBe(
    "Nicht genug USD: Der Auftrag braucht 1.200,5, verfügbar sind 3",
  );
  expect(
    detailOf("price 1100.5 deviates from the last trade price 1000 by more than 500 bps on BTC-USD"),
  ).toBe(
    "Der Preis 1.100,5 weicht auf BTC-USD um mehr als 500 Basispunkte vom Preis des letzten Trades (1.000) ab",
  );
});

it("a field and a state within a reason have names", () => {
  expect(detailOf("stopPrice must be positive")).toBe("Stop-Preis: muss größer als 0 sein");
  expect(detailOf("orders.1.price is required")).toBe("Aufträge 1 Preis: fehlt");
  expect(detailOf("the order is partially_filled")).toBe("Stand des Auftrags: teilweise ausgeführt");
  expect(detailOf("side must be one of buy, sell")).toBe("Seite: muss eines von diesen sein: Kauf, Verkauf");
});

it("what somebody has named is shown as it was given", () => {
  expect(detailOf("watchlist price not found")).toBe("Die Watchlist price gibt es nicht");
  expect(detailOf("clientOrderId 1000.50 belongs to your open order 12345")).toBe(
    "Die Referenz 1000.50 gehört zu Ihrem offenen Auftrag 12345",
  );
  expect(detailOf("watchlist {name} $& not found")).toBe("Die Watchlist {name} $& gibt es nicht");
});

it("a reason within a reason is said, too", () => {
  expect(detailOf("order 2 of the list was refused: quantity is required")).toBe(
    "Auftrag 2 der Liste wurde abgelehnt: Menge: fehlt",
  );
  expect(detailOf("insufficient_margin: required margin is larger than available margin")).toBe(
    "zu wenig Margin: Die nötige Margin ist größer als die verfügbare",
  );
});

it("each of several values has words", () => {
  expect(
    sayReason(
      "the price of SOL is disputed: The prices of trades and the order book are too far apart. Wait until they agree, or until the operator sets a price.",
    ).detail,
  ).toBe(
    "Der Preis von SOL ist nicht sicher (umstritten): Die Preise liegen zu weit auseinander (Trades, Orderbuch). Warten Sie, bis sie übereinstimmen oder der Betreiber einen Preis setzt.",
  );
});

it("several reasons are said one after the other", () => {
  expect(detailOf(["email must be an email address", "password is required"])).toBe(
    "E-Mail-Adresse: muss eine E-Mail-Adresse sein; Passwort: fehlt",
  );
});

it("a moment is said in the words of the page", () => {
  expect(detailOf("the stake is locked until 2026-12-01T00:00:00.000Z")).toBe(
    "Der Stake ist gesperrt bis 01 Dez 2026 00:00:00 UTC",
  );
});

it("a reason without words stays English as a whole, and says so", () => {
  for (const unknown of ["the moon is full", "order 2 of the list was refused: the moon is full"]) {
    expect(explain(refusal(unknown))).toMatchObject({ detail: unknown, language: "en" });
  }
  const half = explain(refusal(["password is required", "the moon is full"]));
  expect(half).toMatchObject({ detail: "password is required; the moon is full", language: "en" });
  expect(renderToStaticMarkup(createElement(ProblemNote, { problem: half }))).toContain('lang="en"');
  expect(explain(new TypeError("x is undefined")).language).toBe("en");
  expect(explain(refusal("password is required")).language).toBeUndefined();
});

it("what the page itself tells of a request has words", () => {
  expect(explain(new UnreachableError("https://exchange.example", true)).detail).toBe(
    "Keine Antwort von https://exchange.example",
  );
  expect(explain(refusal("")).detail).toBe("Die Börse antwortete mit 400");
});

it("an English page shows the words of the exchange", () => {
  showLanguage("en", {});
  const reason = "price 1100.123 is not a multiple of the tick 0.01";
  expect(explain(refusal(reason)).detail).toBe(reason);
  expect(sayReason("RISK_NSF").detail).toBe("RISK_NSF");
});

it("a reason beside its field does not name it again", () => {
  expect(fieldReason(refusal(["price must be positive"]), "price")).toBe("muss größer als 0 sein");
  const sentence = (reason: string) => `Er ${reason}.`;
  expect(fieldReason(refusal(["price must be positive"]), "price", sentence)).toBe(
    "Er muss größer als 0 sein.",
  );
  expect(fieldReason(refusal(["price 0.123 is not a multiple of the tick 0.01"]), "price", sentence)).toBe(
    "Preis: 0,123 ist kein Vielfaches der Schrittweite 0,01",
  );
  expect(fieldReason(refusal(["price sleeps"]), "price", sentence)).toEqual(
    createElement("span", { lang: "en" }, "sleeps"),
  );
  expect(fieldReason(refusal(["quantity is required"]), "price")).toBeNull();
  expect(fieldReason(new Error("price is wrong"), "price")).toBeNull();
});

it("every template fits the reason that it is for, and no other one takes it", () => {
  const say = sayIn(german);
  const values = { reason: "RISK_NSF", time: "2026-12-01", status: "open" };
  const filled = (text: string, own: Readonly<Record<string, string>>) =>
    text.replaceAll(/\{(\w+)\}/g, (_, name: string) => own[name] ?? `v${name}`);
  const wrong = Object.entries(german).filter(
    ([english, text]) =>
      say(filled(english, values)) !== filled(text, { ...values, reason: german.RISK_NSF, status: "offen" }),
  );
  expect(wrong).toEqual([]);
});

it("the template with the most letters is the one", () => {
  const say = sayIn({ "{a} is {b}": "wrong", "{a} is above {b}": "{b} < {a}" });
  expect(say("7 is above 5")).toBe("5 < 7");
  expect(say("toString")).toBeNull();
});
