/** Why a line of a file was refused is said in the language of the page, or in English as the exchange says it. */
import { afterEach, beforeEach, expect, it } from "vitest";
import { showLanguage } from "#lib/language.ts";
import { separatorsOf, setSeparators } from "#lib/separators.ts";
import german from "../../languages/reasons/de.json";
import { reasonsIn } from "../api/messages.ts";
import { sayIn } from "../api/reasons.ts";
import { sayFault } from "./importFault.ts";

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

it("names the field and what is wrong with it", () => {
  expect(sayFault({ field: "quantity", reason: "must be positive" })).toEqual({
    detail: "Menge: muss größer als 0 sein",
  });
  expect(sayFault({ field: "feeAsset", reason: "is missing for the given feeQuantity" }).detail).toBe(
    "Asset der Gebühr: fehlt zur Menge der Gebühr",
  );
});

it("says what is wrong with a whole line, without a field", () => {
  expect(sayFault({ field: "", reason: "has 1200 columns, the header has 4" })).toEqual({
    detail: "hat 1.200 Spalten, die Kopfzeile hat 4",
  });
});

it("leaves what stands in the file as it is, and takes no field for a part of it", () => {
  expect(sayFault({ field: "type", reason: "'price' is none of buy, sell" }).detail).toBe(
    "Art: 'price' ist keines von diesen: buy, sell",
  );
  expect(
    sayFault({
      field: "externalId",
      reason: "100000 transactions of this user are recorded, and no more are taken",
    }).detail,
  ).toBe("Kennung: 100.000 Transaktionen sind aufgezeichnet, mehr werden nicht angenommen");
});

it("stays as the exchange says it where there are no words, and says that it is English", () => {
  expect(sayFault({ field: "quantity", reason: "sleeps" })).toEqual({
    detail: "quantity sleeps",
    language: "en",
  });
  showLanguage("en", {});
  expect(sayFault({ field: "quantity", reason: "must be positive" }).detail).toBe(
    "quantity must be positive",
  );
});
