import { MantineProvider } from "@mantine/core";
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import ExpiryField from "./ExpiryField.tsx";

vi.mock("#lib/preferences.ts", () => ({ useZone: () => "America/New_York" }));

beforeEach(() => void vi.useFakeTimers({ now: Date.parse("2026-11-30T12:00:00Z") }));
afterEach(() => void vi.useRealTimers());

/** The page of a field that is mounted while the draft has this expiry. */
function mounted(expiresAt: string): string {
  const field = createElement(ExpiryField, { expiresAt, onExpiry: () => undefined });
  return renderToStaticMarkup(createElement(MantineProvider, null, field));
}

it("shows until when the draft is good, as it is typed in the zone of the page", () => {
  expect(mounted("2026-12-01T23:30:00.000Z")).toContain('value="2026-12-01T18:30"');
  expect(mounted("")).toContain('value=""');
});

it("says that an expiry is over which the draft still has", () => {
  expect(mounted("2026-11-30T11:59:00.000Z")).toContain("That is over already.");
  expect(mounted("2026-11-30T12:01:00.000Z")).not.toContain("That is over already.");
});
