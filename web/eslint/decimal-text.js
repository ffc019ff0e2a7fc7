/**
 * Money is text from the wire to the pixel, or a Big while it is computed with (README.md, "Numbers").
 *
 * A decimal that becomes a JavaScript number loses digits, and two decimals compared as texts compare by letters.
 * So the rule reports, by the types of the operands:
 * - `Number(x)`, `parseFloat(x)`, `parseInt(x)`, `+x`, `x * 1` and the like, where x is a text, a Big, or of unknown type;
 * - `Big.toNumber()` and `valueOf`-style coercions of a Big in arithmetic;
 * - `<`, `>`, `<=`, `>=` between texts.
 * Counts and times come as bigint or number, and may be converted.
 */
import { ESLintUtils } from "@typescript-eslint/utils";
import ts from "typescript";

const CONVERTERS = new Set(["Number", "parseFloat", "parseInt"]);
const ARITHMETIC = new Set(["-", "*", "/", "%", "**"]);
const RELATIONAL = new Set(["<", ">", "<=", ">="]);

/** @type {import("@typescript-eslint/utils").TSESLint.RuleModule<string, []>} */
export const decimalText = {
  meta: {
    type: "problem",
    docs: { description: "forbid that a decimal text or a Big becomes a JavaScript number" },
    schema: [],
    messages: {
      conversion: "A decimal keeps its digits as text or Big; do not turn it into a JavaScript number.",
      comparison: "Texts compare by letters: compare decimals with compareDecimals of lib/decimal.ts.",
    },
  },
  defaultOptions: [],
  create(context) {
    const services = ESLintUtils.getParserServices(context);

    function mayBeDecimal(node) {
      return parts(services.getTypeAtLocation(node)).some(
        (type) =>
          (type.flags & (ts.TypeFlags.StringLike | ts.TypeFlags.Any | ts.TypeFlags.Unknown)) !== 0 ||
          type.symbol?.name === "Big",
      );
    }

    function isText(node) {
      return parts(services.getTypeAtLocation(node)).some(
        (type) => (type.flags & ts.TypeFlags.StringLike) !== 0,
      );
    }

    function isBig(node) {
      return parts(services.getTypeAtLocation(node)).some((type) => type.symbol?.name === "Big");
    }

    return {
      CallExpression(node) {
        const { callee } = node;
        const converter =
          callee.type === "Identifier"
            ? callee.name
            : callee.type === "MemberExpression" &&
                callee.object.type === "Identifier" &&
                callee.object.name === "Number" &&
                callee.property.type === "Identifier"
              ? callee.property.name
              : "";
        const [argument] = node.arguments;
        if (CONVERTERS.has(converter) && argument && mayBeDecimal(argument)) {
          context.report({ node, messageId: "conversion" });
        }
        if (
          callee.type === "MemberExpression" &&
          callee.property.type === "Identifier" &&
          callee.property.name === "toNumber"
        ) {
          context.report({ node, messageId: "conversion" });
        }
      },
      UnaryExpression(node) {
        if ((node.operator === "+" || node.operator === "-") && mayBeDecimal(node.argument)) {
          context.report({ node, messageId: "conversion" });
        }
      },
      BinaryExpression(node) {
        if (ARITHMETIC.has(node.operator) && (mayBeDecimal(node.left) || mayBeDecimal(node.right))) {
          context.report({ node, messageId: "conversion" });
        }
        if (!RELATIONAL.has(node.operator)) return;
        if (isText(node.left) || isText(node.right) || isBig(node.left) || isBig(node.right)) {
          context.report({ node, messageId: "comparison" });
        }
      },
    };
  },
};

/** The members of a union, or the type alone. */
function parts(type) {
  return type.isUnion() ? type.types : [type];
}
