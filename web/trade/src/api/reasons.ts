/**
 * The reasons of refusals in the language of the page. The exchange gives them in English, with figures in them. The
 * reasons of a language are templates by the English ones, with names in braces where values stand; they are loaded with
 * its catalogue. A reason that no template fits is shown in English.
 */
import { formatDecimal, isDecimal } from "#lib/decimal.ts";
import { formatTime, UTC_ZONE } from "#lib/time.ts";
import { RefusedError, UnreachableError } from "./errors.ts";

/** Templates by the English ones, among them names of fields and states: "price", "cancelled". */
export type Reasons = Readonly<Record<string, string>>;
/** An error, or one reason, in the language of the page; null if it has no words for it. */
export type Say = (said: Error | string) => string | null;

interface Template {
  pattern: RegExp;
  names: readonly string[];
  text: string;
}

const PLACEHOLDER = /\{(\w+)\}/;
/** A field at the beginning of a reason, such as "orders.0.price must be positive". */
const OF_FIELD = /^([A-Za-z][\w.]*):? (.+)$/;
/** Values that somebody has given: shown as they are, also if they look like a figure or a name of ours. */
const GIVEN: ReadonlySet<string> = new Set(["address", "id", "name", "note"]);

/** Finds the words of one language. */
export function sayIn(reasons: Reasons): Say {
  const own = (text: string) => (Object.hasOwn(reasons, text) ? (reasons[text] ?? null) : null);
  let compiled: readonly Template[] | null = null;

  function templates(): readonly Template[] {
    // The most letters first: "price {price} is below {least}" before "{field} is below {least}".
    compiled ??= Object.keys(reasons)
      .filter((english) => PLACEHOLDER.test(english))
      .sort((a, b) => lettersOf(b) - lettersOf(a))
      .map((english) => template(english, reasons[english] ?? ""));
    return compiled;
  }

  function shown(name: string, value: string): string | null {
    if (name === "reason") return say(value);
    if (GIVEN.has(name)) return value;
    if (name === "time") return timeOf(value);
    return value
      .split(/, | and /)
      .map((one) => own(one) ?? (isDecimal(one) ? formatDecimal(one) : one))
      .join(", ");
  }

  function filled({ pattern, names, text }: Template, reason: string): string | null {
    const found = pattern.exec(reason);
    if (!found) return null;
    const values = Object.fromEntries(names.map((name, at) => [name, shown(name, found[at + 1] ?? "")]));
    if (Object.values(values).includes(null)) return null;
    return text
      .split(PLACEHOLDER)
      .map((part, at) => (at % 2 === 0 ? part : values[part]))
      .join("");
  }

  function ofField(reason: string): string | null {
    const [, field = "", rest = ""] = OF_FIELD.exec(reason) ?? [];
    const words = field.split(".").map((part) => (/^\d+$/.test(part) ? part : own(part)));
    if (field === "" || words.includes(null)) return null;
    const said = say(rest);
    return said === null ? null : `${words.join(" ")}: ${said}`;
  }

  function inParts(reason: string): string | null {
    const at = reason.indexOf("; ");
    if (at < 0) return null;
    const [first, second] = [say(reason.slice(0, at)), say(reason.slice(at + 2))];
    return first === null || second === null ? null : `${first}; ${second}`;
  }

  function say(reason: string): string | null {
    const whole = own(reason);
    if (whole !== null) return whole;
    for (const one of templates()) {
      const said = filled(one, reason);
      if (said !== null) return said;
    }
    return ofField(reason) ?? inParts(reason);
  }

  return (said) => {
    const all = typeof said === "string" ? [said] : reasonsOf(said);
    const words = all.map(say);
    return words.length === 0 || words.includes(null) ? null : words.join("; ");
  };
}

const reasonsOf = (error: Error): readonly string[] =>
  error instanceof RefusedError && error.reasons.length > 0
    ? error.reasons
    : error instanceof RefusedError || error instanceof UnreachableError
      ? [error.message]
      : [];

function template(english: string, text: string): Template {
  const parts = english.split(PLACEHOLDER);
  const source = parts.map((part, at) => (at % 2 === 0 ? escaped(part) : "(.+?)")).join("");
  return { pattern: new RegExp(`^${source}$`), names: parts.filter((_, at) => at % 2 === 1), text };
}

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

const lettersOf = (english: string) => english.replaceAll(/\{\w+\}/g, "").length;

/** A moment of ISO 8601 in the words of the page; any other text, such as a day, as it is. */
function timeOf(text: string): string {
  const moment = text.includes(":") ? Date.parse(text.replace(" ", "T")) : Number.NaN;
  return Number.isNaN(moment) ? text : `${formatTime(moment, UTC_ZONE)} UTC`;
}
