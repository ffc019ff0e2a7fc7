import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { CREATABLE_TYPES, PARTICIPANT_TYPES, PERMISSION_GROUPS, STP_MODES } from "./catalogue.ts";

// spec: A2.6-10, A2.6-11

describe("the catalogue", () => {
  const types = PARTICIPANT_TYPES.map(({ type }) => type);
  const permissions = PERMISSION_GROUPS.flatMap((group) => group.permissions);

  it("knows 14 types, each once, the six of creation among them", () => {
    expect(new Set(types).size).toBe(14);
    expect(types).toHaveLength(14);
    expect(CREATABLE_TYPES.map(({ type }) => type)).toEqual([
      "MAKER",
      "TAKER",
      "BOTH",
      "BROKER",
      "SYSTEM",
      "SUPER_ADMIN",
    ]);
  });

  it("knows 60 permission names or more, each once", () => {
    const names = permissions.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names.length).toBeGreaterThanOrEqual(60);
    for (const name of names) expect(name).toMatch(/^[a-z_]+\.[a-z_]+$/);
  });

  it("names every permission that the REST edge asks for", () => {
    const document = JSON.parse(
      readFileSync(new URL("../../../../docs/protocol/openapi/rest-edge.json", import.meta.url), "utf8"),
    ) as { components: { schemas: { Permission: { enum: string[] } } } };
    const names = new Set(permissions.map(({ name }) => name));
    expect(document.components.schemas.Permission.enum.filter((name) => !names.has(name))).toEqual([]);
  });

  it("gives every type a permission, and both administrators all of them", () => {
    for (const type of types) {
      const held = permissions.filter(({ holders }) => holders.includes(type)).length;
      expect(held, type).toBeGreaterThan(0);
      if (type === "SYSTEM" || type === "SUPER_ADMIN") expect(held).toBe(permissions.length);
    }
  });

  it("names a holder of a permission once", () => {
    for (const { name, holders } of permissions) expect(new Set(holders).size, name).toBe(holders.length);
  });

  it("knows the five modes of self-trade prevention", () => {
    expect(STP_MODES.map(({ mode }) => mode)).toEqual([
      "NONE",
      "CANCEL_RESTING",
      "CANCEL_INCOMING",
      "CANCEL_BOTH",
      "DECREMENT_AND_CANCEL",
    ]);
  });
});
