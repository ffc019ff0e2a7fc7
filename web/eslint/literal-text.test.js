import { RuleTester } from "eslint";
import tseslint from "typescript-eslint";
import { describe, expect, it } from "vitest";
import { literalText } from "./literal-text.js";
import { messagesOf, placeholdersOf } from "./messages.js";

RuleTester.describe = describe;
RuleTester.it = it;

const tester = new RuleTester({
  languageOptions: { parser: tseslint.parser, parserOptions: { ecmaFeatures: { jsx: true } } },
});
const errors = (...ids) => ids.map((messageId) => ({ messageId }));

tester.run("literal-text", literalText, {
  valid: [
    'const A = () => <p className="Wide card">{t("Order book")}</p>;',
    'const A = () => <Field label={t("Price")} data-side="buy" type="text" />;',
    'const A = () => rich("No account? {link}", { link: <a href="/x">{t("Create one")}</a> });',
    'const a = (count) => several(count, "{count} row", "{count} rows");',
    'const TABLE = texts({ open: ["Open orders", "accent"] });',
    "const A = () => <b>{TABLE.open} · 5 %</b>;",
    'import { a } from "./Some file.ts";',
    'throw new Error("The file has no root");',
    'if (error.name === "Some long name") stop();',
    'const a = { get title() { return t("Order book"); } };',
    'const key = ["Orders"];',
    "const area = `minmax(0, 1fr) auto`;",
    'const column = () => ({ id: "Price", title: t("Price"), word: "price" });',
  ],
  invalid: [
    { code: "const A = () => <p>Order book</p>;", errors: errors("literal") },
    { code: 'const A = () => <Field label="price" />;', errors: errors("literal") },
    { code: 'const A = () => <Field aria-label={isBuy ? "buy" : t("Sell")} />;', errors: errors("literal") },
    { code: "const A = () => <Field title={`all of ${name}`} />;", errors: errors("literal") },
    { code: 'const A = () => <p>{isOpen && "open"}</p>;', errors: errors("literal") },
    { code: 'const column = { id: "price", title: "Price" };', errors: errors("literal") },
    {
      code: 'const menu = (isOpen) => ({ "aria-label": isOpen ? "Close" : t("Open") });',
      errors: errors("literal"),
    },
    { code: 'const fault = () => "Enter a price.";', errors: errors("literal") },
    { code: "const fault = (asset) => `Enter an amount of ${asset}.`;", errors: errors("literal") },
    { code: 'const TITLE = t("Order book");', errors: errors("early") },
    { code: 'const TABLE = { title: t("Order book") };', errors: errors("early") },
    { code: "const a = (count, one) => several(count, one, many);", errors: errors("computed", "computed") },
    { code: "const a = (text) => rich(text, {});", errors: errors("computed") },
  ],
});

describe("the texts of a file", () => {
  it("are those of each call, with the form for one, and the texts of marked tables", () => {
    const source = `
      const TABLE = texts({ open: ["Open", "accent", "●"], note: { text: "It “waits”." } });
      const A = ({ count }: { count: number }) => <p title={t("Order book")}>{rich("{a} of {b}", values)}
        {several(count, "{count} row", "{count} rows")}{t(TABLE.open[0])}{other("No text")}</p>;`;
    expect(messagesOf("a.tsx", source)).toEqual([
      { message: "Open" },
      { message: "It “waits”." },
      { message: "Order book" },
      { message: "{a} of {b}" },
      { message: "{count} rows", one: "{count} row" },
    ]);
  });

  it("have placeholders, each once", () => {
    expect(placeholdersOf("{b} of {a}, {b}")).toEqual(["a", "b"]);
  });
});
