/** The colours of the indicators' lines; each is told from the candles and stands out from the chart in both themes. */

export type Scheme = "light" | "dark";

/** By the id of an indicator, and of the line of a MACD's signal; and of other markets on the chart. */
export const LINE_COLOURS = {
  "sma-1": { light: "#2850c8", dark: "#8fb0ff" },
  "sma-2": { light: "#a8430f", dark: "#ffab7a" },
  "sma-3": { light: "#6a3fb5", dark: "#c4a7ff" },
  "ema-1": { light: "#00708a", dark: "#5fd0e6" },
  "ema-2": { light: "#7d5200", dark: "#e9b64a" },
  bollinger: { light: "#566072", dark: "#9aa4b5" },
  vwap: { light: "#a0207a", dark: "#ff9bdc" },
  rsi: { light: "#6a3fb5", dark: "#c4a7ff" },
  macd: { light: "#2850c8", dark: "#8fb0ff" },
  signal: { light: "#a8430f", dark: "#ffab7a" },
  atr: { light: "#00708a", dark: "#5fd0e6" },
  "compared-1": { light: "#a8430f", dark: "#ffab7a" },
  "compared-2": { light: "#6a3fb5", dark: "#c4a7ff" },
  "compared-3": { light: "#00708a", dark: "#5fd0e6" },
} satisfies Readonly<Record<string, Readonly<Record<Scheme, string>>>>;

export type LineName = keyof typeof LINE_COLOURS;

export function lineColour(name: LineName, scheme: Scheme): string {
  return LINE_COLOURS[name][scheme];
}
