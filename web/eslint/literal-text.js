/**
 * Texts of the trading screen go through the catalogues: this rule reports texts that stand in a component as they are,
 * and texts that are looked up before the language of the page is known.
 *
 * A string is a text where a reader sees it (between tags, in an attribute such as `label`) if it has a word, in a
 * property of such a name if it begins with a capital letter and a small one, and elsewhere if it reads as a text: it
 * begins with a capital letter, and has a small one and a space.
 */
import { isText } from "./messages.js";

const CATALOGUE = new Set(["t", "rich", "several"]);
/** What takes an English text: the catalogue, and tables that are translated where they are shown. */
const TAKES_ENGLISH = new Set([...CATALOGUE, "texts"]);
const SHOWN = new Set([
  ...[
    "alt",
    "aria-label",
    "aria-roledescription",
    "aria-valuetext",
    "confirm",
    "description",
    "dismiss",
    "error",
  ],
  ...["heading", "label", "meaning", "nothingFoundMessage", "placeholder", "reasonStandsIn", "title", "word"],
]);
const WORD = /\p{L}{2}/u;
const TITLE = /^\p{Lu}\p{Ll}/u;
const readsAsText = (value) => isText(value) && /\p{L}\p{Ll}.*\s+\S|\s\p{Ll}{2}/u.test(value);

/** @type {import("@typescript-eslint/utils").TSESLint.RuleModule<string, []>} */
export const literalText = {
  meta: {
    type: "problem",
    docs: { description: "require that texts of the trading screen go through the catalogues" },
    schema: [],
    messages: {
      literal: "Show this text by t(), rich() or several() of lib/language.ts, so that it is translated.",
      early: "The language is not known while a file is loaded: look the text up where it is shown.",
      computed: "Give {{name}} a text that is written here: the catalogues have no other.",
    },
  },
  defaultOptions: [],
  create(context) {
    function checkString(node, value) {
      if (takesEnglish(node) || isNoText(node)) return;
      const isOne = isShown(node) ? WORD.test(value) : readsAsText(value);
      if (isOne || (isNamedAsShown(node) && TITLE.test(value)))
        context.report({ node, messageId: "literal" });
    }

    return {
      JSXText(node) {
        if (WORD.test(node.value)) context.report({ node, messageId: "literal" });
      },
      Literal(node) {
        if (typeof node.value === "string") checkString(node, node.value);
      },
      TemplateLiteral(node) {
        checkString(node, node.quasis.map(({ value }) => value.cooked).join("{}"));
      },
      CallExpression(node) {
        const name = node.callee.type === "Identifier" ? node.callee.name : "";
        if (!CATALOGUE.has(name)) return;
        if (!isInFunction(node)) context.report({ node, messageId: "early" });
        const taken =
          name === "several" ? node.arguments.slice(1, 3) : name === "rich" ? [node.arguments[0]] : [];
        for (const argument of taken)
          if (argument?.type !== "Literal")
            context.report({ node: argument ?? node, messageId: "computed", data: { name } });
      },
    };
  },
};

/** Whether the string is given to the catalogue, alone or within a table. */
function takesEnglish(node) {
  for (let inner = node, outer = node.parent; outer; inner = outer, outer = outer.parent) {
    if (outer.type === "CallExpression" && outer.arguments.includes(inner))
      return outer.callee.type === "Identifier" && TAKES_ENGLISH.has(outer.callee.name);
    if (
      ![
        "ArrayExpression",
        "ObjectExpression",
        "Property",
        "TSAsExpression",
        "TSSatisfiesExpression",
      ].includes(outer.type)
    )
      return false;
  }
  return false;
}

/** Whether nobody reads the string: names of modules and of types, keys, what is compared, and messages of throws. */
function isNoText({ parent, ...node }) {
  switch (parent.type) {
    case "ImportDeclaration":
    case "ImportExpression":
    case "ExportNamedDeclaration":
    case "TSLiteralType":
    case "SwitchCase":
    case "TaggedTemplateExpression":
      return true;
    case "MemberExpression":
      return true;
    case "BinaryExpression":
      return parent.operator !== "+";
    case "Property":
      return parent.key.range === node.range;
    case "NewExpression":
      return true;
    case "JSXAttribute":
      return parent.name.name === "className";
    default:
      return false;
  }
}

/** Whether the string is what a shown attribute has, or stands between tags. */
function isShown(node) {
  let outer = node.parent;
  while (["ConditionalExpression", "LogicalExpression"].includes(outer.type)) outer = outer.parent;
  if (outer.type === "JSXExpressionContainer") outer = outer.parent;
  if (outer.type === "JSXElement" || outer.type === "JSXFragment") return node.parent.test !== node;
  return outer.type === "JSXAttribute" && SHOWN.has(outer.name.name);
}

/** Whether the string is the value of a property that has the name of a shown attribute. */
function isNamedAsShown(node) {
  let inner = node;
  while (["ConditionalExpression", "LogicalExpression"].includes(inner.parent.type)) inner = inner.parent;
  const { type, key, value } = inner.parent;
  return type === "Property" && value === inner && SHOWN.has(key.name ?? key.value);
}

function isInFunction(node) {
  for (let outer = node.parent; outer; outer = outer.parent) if (/Function/.test(outer.type)) return true;
  return false;
}
