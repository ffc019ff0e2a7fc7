/** How many digits an amount of an asset is shown with. Pure. */
import { formatDecimal, placesOf } from "#lib/decimal.ts";
import { floorTo, readScaled, SCALED_PLACES, scaledText } from "#lib/scaled.ts";

const MONEY: ReadonlySet<string> = new Set(["USD", "EUR", "GBP", "CHF"]);
const MONEY_PLACES = 2;
/** Fees are parts of a cent. */
const MONEY_PLACES_MAX = 4;
const STEP = 10n ** BigInt(SCALED_PLACES - MONEY_PLACES_MAX);

/**
 * The text of an amount: money has two places, and four where it has parts of a cent; what is less than its last
 * place stays whole, so that it does not look like nothing. Other assets keep all digits.
 */
export function shownText(value: string, asset: string): { text: string; places: number } {
  if (!MONEY.has(asset)) return { text: value, places: 0 };
  const exact = readScaled(value);
  if (exact === null) return { text: value, places: 0 };
  const cut = exact < 0n ? -floorTo(-exact, STEP) : floorTo(exact, STEP);
  const text = cut === 0n || cut === exact ? value : scaledText(cut);
  const hasPartsOfACent = placesOf(scaledText(cut)) > MONEY_PLACES;
  return { text, places: hasPartsOfACent ? MONEY_PLACES_MAX : MONEY_PLACES };
}

/** An amount of an asset for a sentence, in its places: "1,234.50". What is free is cut, so all of it can be used. */
export function amountText(value: string, asset: string): string {
  const { text, places } = shownText(value, asset);
  return formatDecimal(text, places);
}
