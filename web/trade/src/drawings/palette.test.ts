import { expect, test } from "vitest";
import { contrast, dark, light } from "#lib/theme/tokens.ts";
import { DRAWING_COLOURS } from "./palette.ts";

test("every colour of a drawing can be read on the chart, since texts have it too", () => {
  for (const colours of Object.values(DRAWING_COLOURS)) {
    expect(contrast(colours.light, light.surface)).toBeGreaterThanOrEqual(4.5);
    expect(contrast(colours.dark, dark.surface)).toBeGreaterThanOrEqual(4.5);
  }
});
