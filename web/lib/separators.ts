/**
 * The signs between the digits of a figure that is shown: "1,234.56", "1.234,56" or "1 234,56". Only figures on the
 * screen and what is typed into a field have them; the platform, files and exact values under the pointer keep the point.
 */
export interface Separators {
  decimal: string;
  group: string;
  /** A place where a sign between groups belongs. The last group has three digits, the others may have two (India). */
  boundary: RegExp;
}

/** The signs that a locale uses, between Latin digits. A browser without that locale uses its own. */
export function separatorsOf(locale?: string): Separators {
  // "always": the columns of a table have groups in figures of four digits too, also where prose has none.
  const format = new Intl.NumberFormat(locale, { numberingSystem: "latn", useGrouping: "always" });
  const parts = format.formatToParts(12_345_678.5);
  const sign = (type: "decimal" | "group") => parts.find((part) => part.type === type)?.value ?? "";
  const size = parts.filter(({ type }) => type === "integer").at(-2)?.value.length ?? 3;
  return {
    decimal: sign("decimal") || ".",
    group: sign("group"),
    boundary: new RegExp(`\\B(?=(\\d{${size}})*\\d{3}$)`, "g"),
  };
}

/** Signs between groups that mean the same. */
const ALIKE = ["'’", " \u00a0\u202f"];

let shown = separatorsOf("en");

/** The separators of the figures on this page. */
export function separators(): Separators {
  return shown;
}

/** Show figures with other separators from now on. What is on the screen has to be drawn again. */
export function setSeparators(next: Separators): void {
  shown = next;
}

/** A short text that has no groups, such as "12.5K", with the decimal sign of the page. */
export function withDecimalSign(text: string): string {
  return text.replace(".", shown.decimal);
}

/**
 * The decimal that a person has typed, with a point: the page's decimal sign and the point mean the same. Groups are
 * taken where they cannot be mistaken, before a decimal sign: "1.234,5" is 1234.5 on a page with commas. Any other text
 * comes back as it is, to be refused.
 */
export function typedDecimal(typed: string): string {
  const { decimal, group } = shown;
  // A keyboard has one of several apostrophes and spaces.
  const alike = ALIKE.find((signs) => group !== "" && signs.includes(group)) ?? group;
  const text = typed
    .split("")
    .map((sign) => (alike.includes(sign) ? group : sign))
    .join("");
  const at = text.lastIndexOf(decimal);
  const whole = text.slice(0, at).trim();
  if (at > 0 && group !== "" && whole.includes(group) && isGrouped(whole)) {
    return `${whole.split(group).join("")}.${text.slice(at + decimal.length)}`;
  }
  const signs = text.split(decimal === "." ? "." : new RegExp(`[.${decimal}]`));
  return signs.length === 2 ? signs.join(".") : typed;
}

function isGrouped(whole: string): boolean {
  const digits = whole.split(shown.group).join("");
  return /^\d+$/.test(digits) && digits.replace(shown.boundary, shown.group) === whole;
}
