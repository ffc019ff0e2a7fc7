/** The colours of both themes, by what they are for. README.md says where each is used and its contrast. */

export interface Colours {
  /** Behind everything. */
  body: string;
  /** Cards, tables, the header. */
  surface: string;
  /** Heads of tables, rows under the pointer, wells. */
  sunken: string;
  border: string;
  text: string;
  dimmed: string;
  /** Links, the selected entry, lines of graphs. */
  accent: string;
  /** Behind the selected entry. */
  accentSoft: string;
  /** Filled buttons; their text is `onFilled`. */
  filled: string;
  filledHover: string;
  danger: string;
  dangerHover: string;
  onFilled: string;
  /** Bought, active, healthy. */
  positive: string;
  positiveSoft: string;
  /** Sold, refused, failed. */
  negative: string;
  negativeSoft: string;
  /** Needs a look. */
  warning: string;
  warningSoft: string;
  /** Neither good nor bad. */
  neutral: string;
  neutralSoft: string;
}

export const light: Colours = {
  body: "#f5f6f8",
  surface: "#ffffff",
  sunken: "#f0f2f5",
  border: "#d9dde4",
  text: "#151a23",
  dimmed: "#566072",
  accent: "#2850c8",
  accentSoft: "#e7edfc",
  filled: "#2f5bd9",
  filledHover: "#254bb8",
  danger: "#c4232c",
  dangerHover: "#a51a22",
  onFilled: "#ffffff",
  positive: "#0a6e45",
  positiveSoft: "#e0f3ea",
  negative: "#b3202a",
  negativeSoft: "#fce7e8",
  warning: "#7d5200",
  warningSoft: "#fbf0d6",
  neutral: "#465063",
  neutralSoft: "#e9ecf1",
};

export const dark: Colours = {
  body: "#0d1015",
  surface: "#14181f",
  sunken: "#1b2029",
  border: "#2c333f",
  text: "#e6e9ee",
  dimmed: "#9aa4b5",
  accent: "#8fb0ff",
  accentSoft: "#1c2844",
  filled: "#3d68e0",
  filledHover: "#3259c9",
  danger: "#d13a43",
  dangerHover: "#b52f38",
  onFilled: "#ffffff",
  positive: "#4fce94",
  positiveSoft: "#12301f",
  negative: "#ff8a8f",
  negativeSoft: "#3a181c",
  warning: "#e9b64a",
  warningSoft: "#332710",
  neutral: "#b3bccb",
  neutralSoft: "#242b36",
};

/** Pairs of text and what it stands on, which need a contrast of at least 4.5 to 1 (WCAG 2.2, 1.4.3). */
export const TEXT_PAIRS: readonly (readonly [keyof Colours, keyof Colours])[] = [
  ["text", "body"],
  ["text", "surface"],
  ["text", "sunken"],
  ["dimmed", "body"],
  ["dimmed", "surface"],
  ["dimmed", "sunken"],
  ["accent", "body"],
  ["accent", "surface"],
  ["accent", "accentSoft"],
  ["onFilled", "filled"],
  ["onFilled", "filledHover"],
  ["onFilled", "danger"],
  ["onFilled", "dangerHover"],
  ["positive", "surface"],
  ["positive", "positiveSoft"],
  ["negative", "surface"],
  ["negative", "negativeSoft"],
  ["warning", "surface"],
  ["warning", "warningSoft"],
  ["neutral", "neutralSoft"],
];

/** Shapes that carry meaning, which need at least 3 to 1 (WCAG 2.2, 1.4.11). */
export const SHAPE_PAIRS: readonly (readonly [keyof Colours, keyof Colours])[] = [
  ["accent", "surface"],
  ["filled", "surface"],
  ["positive", "surface"],
  ["negative", "surface"],
  ["warning", "surface"],
];

function channel(hex: string): number {
  const value = Number.parseInt(hex, 16) / 255; // eslint-disable-line openspot/decimal-text -- a colour
  return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
}

function luminance(colour: string): number {
  const [red, green, blue] = [colour.slice(1, 3), colour.slice(3, 5), colour.slice(5, 7)].map(channel);
  return 0.2126 * (red ?? 0) + 0.7152 * (green ?? 0) + 0.0722 * (blue ?? 0);
}

/** The contrast of two colours as WCAG 2.2 defines it, from 1 to 21. */
export function contrast(one: string, other: string): number {
  const [bright, faint] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return ((bright ?? 0) + 0.05) / ((faint ?? 0) + 0.05);
}
