/** What drawings are called. */
import { formatDecimal } from "#lib/decimal.ts";
import { t } from "#lib/language.ts";
import { formatTime } from "#lib/time.ts";
import type { Colour, Drawing, Kind, Point } from "./drawing.ts";

export function kindName(kind: Kind): string {
  switch (kind) {
    case "trend_line":
      return t("Trend line");
    case "ray":
      return t("Ray");
    case "horizontal_line":
      return t("Horizontal line");
    case "fibonacci":
      return t("Fibonacci retracement");
    case "rectangle":
      return t("Rectangle");
    case "text":
      return t("Text");
  }
}

export function colourName(colour: Colour): string {
  switch (colour) {
    case "blue":
      return t("Blue");
    case "orange":
      return t("Orange");
    case "purple":
      return t("Purple");
    case "teal":
      return t("Teal");
    case "pink":
      return t("Pink");
    case "grey":
      return t("Grey");
  }
}

/** The name that it was given, or what it is. */
export function titleOf({ kind, text }: Pick<Drawing, "kind" | "text">): string {
  return text === "" ? kindName(kind) : `${kindName(kind)}: ${text}`;
}

/** "22 Nov 2026 09:05, 101.20" */
export function pointText({ time, price }: Point, zone: string): string {
  return `${formatTime(time, zone).slice(0, -":00".length)}, ${formatDecimal(price)}`;
}
