/** Drawings on the chart of a market, what a change makes of them, and what a browser keeps of them. Pure. */

export const KINDS = ["trend_line", "ray", "horizontal_line", "fibonacci", "rectangle", "text"] as const;
export type Kind = (typeof KINDS)[number];
export const COLOURS = ["blue", "orange", "purple", "teal", "pink", "grey"] as const;
export type Colour = (typeof COLOURS)[number];
export const WIDTHS = [1, 2, 3] as const;

/** Drawings of one market, and letters of one text: the bounds of the edge, which refuses more. */
export const DRAWINGS_MAX = 100;
export const TEXT_LENGTH_MAX = 200;
/** The edge takes so many drawings at once. */
export const PUT_MAX = 50;
const TIME_MS_MAX = 253_402_300_799_999;
const ID = /^[A-Za-z0-9_-]{1,36}$/;
const PRICE = /^(?=.*[1-9])\d{1,19}(\.\d{1,18})?$/;

/** A place in milliseconds since 1970 and price: it stays where it is with every interval and scale. */
export interface Point {
  time: number;
  price: string;
}

export interface Drawing {
  id: string;
  kind: Kind;
  points: readonly Point[];
  colour: Colour;
  width: number;
  /** What a text says; of another kind the name that it was given. */
  text: string;
}

/** The drawings to add or replace, and the ids of those to remove. */
export interface Change {
  put: readonly Drawing[];
  remove: readonly string[];
}

export function pointsOf(kind: Kind): number {
  return kind === "horizontal_line" || kind === "text" ? 1 : 2;
}

/** A time that the edge takes. */
export function possibleTime(milliseconds: number): number {
  return Math.round(Math.min(Math.max(milliseconds, 0), TIME_MS_MAX));
}

/** The drawings after a change: those that stay in their order, then the new ones. */
export function changed(before: readonly Drawing[], { put, remove }: Change): readonly Drawing[] {
  const after = new Map(before.filter(({ id }) => !remove.includes(id)).map((one) => [one.id, one]));
  for (const one of put) after.set(one.id, one);
  return [...after.values()];
}

/** The change that takes back what `change` makes of `before`. */
export function inverse(before: readonly Drawing[], { put, remove }: Change): Change {
  const known = new Map(before.map((one) => [one.id, one]));
  const touched = [...put.map(({ id }) => id), ...remove];
  return {
    put: touched.flatMap((id) => known.get(id) ?? []),
    remove: put.flatMap(({ id }) => (known.has(id) ? [] : [id])),
  };
}

/** A change in parts that the edge takes. */
export function partsOf({ put, remove }: Change): Change[] {
  const parts: Change[] = [{ put: put.slice(0, PUT_MAX), remove }];
  for (let at = PUT_MAX; at < put.length; at += PUT_MAX)
    parts.push({ put: put.slice(at, at + PUT_MAX), remove: [] });
  return parts;
}

/** The drawings of a kept text. What is not one is left out. */
export function readDrawings(text: string | null): Drawing[] {
  let kept: unknown;
  try {
    kept = JSON.parse(text ?? "[]");
  } catch {
    return [];
  }
  if (!Array.isArray(kept)) return [];
  const known = kept.filter(isDrawing).slice(0, DRAWINGS_MAX);
  return [...new Map(known.map((one) => [one.id, one])).values()];
}

function isDrawing(value: unknown): value is Drawing {
  if (typeof value !== "object" || value === null) return false;
  const { id, kind, points, colour, width, text } = value as Record<string, unknown>;
  const known = KINDS.find((name) => name === kind);
  return (
    typeof id === "string" &&
    ID.test(id) &&
    known !== undefined &&
    Array.isArray(points) &&
    points.length === pointsOf(known) &&
    points.every(isPoint) &&
    COLOURS.some((name) => name === colour) &&
    WIDTHS.some((one) => one === width) &&
    typeof text === "string" &&
    isText(text) &&
    (known !== "text" || text !== "")
  );
}

function isPoint(value: unknown): value is Point {
  if (typeof value !== "object" || value === null) return false;
  const { time, price } = value as Record<string, unknown>;
  return (
    typeof time === "number" &&
    Number.isInteger(time) &&
    time >= 0 &&
    time <= TIME_MS_MAX &&
    typeof price === "string" &&
    PRICE.test(price)
  );
}

/** Whether the edge takes the text: without line breaks and other signs that cannot be seen. */
function isText(text: string): boolean {
  return Array.from(text).length <= TEXT_LENGTH_MAX && text === text.trim() && !/\p{Cc}/u.test(text);
}

/** What can be kept of a typed text. */
export function possibleText(typed: string): string {
  return Array.from(typed.replace(/\p{Cc}/gu, " ").trim())
    .slice(0, TEXT_LENGTH_MAX)
    .join("")
    .trim();
}
