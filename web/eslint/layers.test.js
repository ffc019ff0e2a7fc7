import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { RuleTester } from "eslint";
import tseslint from "typescript-eslint";
import { describe, expect, it } from "vitest";
import { importDownwards, LAYERS } from "./layers.js";

RuleTester.describe = describe;
RuleTester.it = it;

const web = join(import.meta.dirname, "..");
const tester = new RuleTester({ languageOptions: { parser: tseslint.parser } });
const at = (file, code) => ({ filename: join(process.cwd(), file), code });

tester.run("import-downwards", importDownwards, {
  valid: [
    at("trade/src/pages/WalletPage.tsx", 'import { a } from "../portfolio/valuation.ts";'),
    at("trade/src/pages/WalletPage.tsx", 'import { a } from "./NotFoundPage.tsx";'),
    at("trade/src/App.tsx", 'const page = import("./pages/WalletPage.tsx");'),
    at("trade/src/api/queries.ts", 'import { a } from "#lib/scaled.ts";'),
    at("trade/src/api/queries.ts", 'import { a } from "#gen/openapi/rest-edge.ts";'),
    at("trade/src/api/queries.ts", 'import { useQuery } from "@tanstack/react-query";'),
    at("lib/components/DataTable.tsx", 'import { a } from "../time.ts";'),
    at("vite.config.ts", 'import { a } from "./build/compress.ts";'),
  ],
  invalid: [
    { ...at("trade/src/account/zone.ts", 'import { a } from "../pages/LoginPage.tsx";'), errors: upwards() },
    { ...at("trade/src/account/zone.ts", 'import type { a } from "../App.tsx";'), errors: upwards() },
    { ...at("trade/src/account/zone.ts", 'import classes from "../pages/a.module.css";'), errors: upwards() },
    { ...at("trade/src/account/zone.ts", 'export { a } from "../pages/LoginPage.tsx";'), errors: upwards() },
    { ...at("trade/src/account/zone.ts", 'const a = import("../pages/LoginPage.tsx");'), errors: upwards() },
    { ...at("trade/src/account/zone.ts", 'type A = import("../pages/LoginPage.tsx").A;'), errors: upwards() },
    { ...at("lib/time.ts", 'import { a } from "#lib/components/Badge.tsx";'), errors: upwards() },
    {
      ...at("lib/time.ts", 'import { a } from "../trade/src/App.tsx";'),
      errors: [{ messageId: "elsewhere" }],
    },
    {
      ...at("console/src/App.tsx", 'import { a } from "../../trade/src/App.tsx";'),
      errors: [{ messageId: "elsewhere" }],
    },
    { ...at("trade/src/news/News.tsx", "export const a = 1;"), errors: [{ messageId: "unknown" }] },
  ],
});

it("the list names folders that exist, each once", () => {
  for (const [tree, folders] of Object.entries(LAYERS)) {
    expect(new Set(folders).size).toBe(folders.length);
    expect(folders.filter((folder) => !existsSync(join(web, tree, folder)))).toEqual([]);
  }
});

it("every application has a list", () => {
  const applications = readdirSync(web).filter((name) => existsSync(join(web, name, "index.html")));
  expect(applications.map((name) => `${name}/src`).filter((tree) => !(tree in LAYERS))).toEqual([]);
});

function upwards() {
  return [{ messageId: "upwards" }];
}
