import reactHooks from "eslint-plugin-react-hooks";
import tseslint from "typescript-eslint";
import { decimalText } from "./eslint/decimal-text.js";
import { importDownwards } from "./eslint/layers.js";
import { literalText } from "./eslint/literal-text.js";

export default tseslint.config(
  { ignores: ["dist", "dist.*", "gen", "node_modules"] },
  {
    files: ["**/*.ts", "**/*.tsx"],
    extends: [
      ...tseslint.configs.strictTypeChecked,
      ...tseslint.configs.stylisticTypeChecked,
      reactHooks.configs.flat.recommended,
    ],
    plugins: {
      openspot: {
        rules: {
          "decimal-text": decimalText,
          "import-downwards": importDownwards,
          "literal-text": literalText,
        },
      },
    },
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      "openspot/decimal-text": "error",
      "openspot/import-downwards": "error",
      "no-restricted-imports": [
        "error",
        {
          paths: [
            {
              name: "@mantine/core",
              importNames: ["NumberInput"],
              message: "It yields floats: use DecimalField.",
            },
            { name: "big.js", message: "Use lib/arithmetic.ts, where Big is strict." },
          ],
        },
      ],
      "no-restricted-properties": [
        "error",
        { property: "dangerouslySetInnerHTML", message: "Text is shown as text." },
      ],
      // Handlers may be async: what they throw is shown by the mutation that they start.
      "@typescript-eslint/no-misused-promises": ["error", { checksVoidReturn: { attributes: false } }],
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
    },
  },
  {
    // Custody's document says what it takes and returns: a field that is not there must not compile.
    files: ["console/src/engine/withdrawals.ts"],
    rules: {
      "no-restricted-syntax": [
        "error",
        {
          selector:
            "TSInterfaceDeclaration, TSTypeAliasDeclaration > TSTypeLiteral, TSAsExpression > TSTypeLiteral",
          message: "Take the shapes of requests and responses from gen/openapi/custody.ts.",
        },
      ],
    },
  },
  {
    // The console is in English alone.
    files: ["trade/src/**", "lib/components/**"],
    ignores: ["**/*.test.ts"],
    rules: { "openspot/literal-text": "error" },
  },
  { files: ["lib/arithmetic.ts"], rules: { "no-restricted-imports": "off" } },
);
