import { expect, test } from "vitest";
import { contrast, dark, light } from "#lib/theme/tokens.ts";
import { INDICATORS } from "./choice.ts";
import { LINE_COLOURS } from "./palette.ts";

test("every line stands out from the chart as shapes must", () => {
  for (const colours of Object.values(LINE_COLOURS)) {
    expect(contrast(colours.light, light.surface)).toBeGreaterThanOrEqual(3);
    expect(contrast(colours.dark, dark.surface)).toBeGreaterThanOrEqual(3);
  }
});

test("every indicator that draws lines has a colour", () => {
  const drawn = INDICATORS.filter(({ kind }) => kind !== "profile");
  expect(Object.keys(LINE_COLOURS)).toEqual(expect.arrayContaining(drawn.map(({ id }) => id)));
});
