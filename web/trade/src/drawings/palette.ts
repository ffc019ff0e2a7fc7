/** The colours of drawings; each stands out from the chart in both themes. */
import type { Colour } from "./drawing.ts";

export type Scheme = "light" | "dark";

export const DRAWING_COLOURS: Readonly<Record<Colour, Readonly<Record<Scheme, string>>>> = {
  blue: { light: "#2850c8", dark: "#8fb0ff" },
  orange: { light: "#a8430f", dark: "#ffab7a" },
  purple: { light: "#6a3fb5", dark: "#c4a7ff" },
  teal: { light: "#00708a", dark: "#5fd0e6" },
  pink: { light: "#a0207a", dark: "#ff9bdc" },
  grey: { light: "#566072", dark: "#9aa4b5" },
};
