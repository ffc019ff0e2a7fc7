/**
 * The folders of the pages, and the rule that imports go downwards only.
 *
 * Each list of `LAYERS` names the folders of one tree, the lowest first. A file imports from its own folder, from the
 * folders before it, and from lib/. So no circle between folders can arise. A new folder gets a place in the list.
 */
import { posix } from "node:path";

/** @type {Readonly<Record<string, readonly string[]>>} */
export const LAYERS = {
  lib: ["theme", "", "components"],
  "console/src": ["engine", "operator", "people", "parts", "frame", "pages", ""],
  "trade/src": [
    "stream",
    "api",
    "status",
    "parts",
    "account",
    "alerts",
    "frame",
    "portfolio",
    "deposits",
    "withdrawals",
    "conversions",
    "staking",
    "reserves",
    "history",
    "indicators",
    "drawings",
    "market",
    "onboarding",
    "orders",
    "positions",
    "margin",
    "layout",
    "pages",
    "pages/account",
    "",
  ],
};

const LIBRARY = "lib";

/** @type {import("@typescript-eslint/utils").TSESLint.RuleModule<string, []>} */
export const importDownwards = {
  meta: {
    type: "problem",
    docs: { description: "forbid that a folder imports from one above it or from another application" },
    schema: [],
    messages: {
      upwards: "{{from}} lies below {{to}}, so it must not import from there (eslint/layers.js).",
      elsewhere: "{{from}} must not import from {{to}}: only lib/ is shared (eslint/layers.js).",
      unknown: "Give the folder {{folder}} a place in the list of eslint/layers.js.",
    },
  },
  defaultOptions: [],
  create(context) {
    const file = posix.relative(slashes(context.cwd), slashes(context.filename));
    const from = placeOf(file);
    if (from === null) return {};

    function check(node, source) {
      if (typeof source !== "string") return;
      const to = placeOf(targetOf(file, source));
      if (to === null) return;
      const names = { from: nameOf(from), to: nameOf(to) };
      if (to.layer < 0) context.report({ node, messageId: "unknown", data: { folder: nameOf(to) } });
      else if (to.tree !== from.tree) {
        if (to.tree !== LIBRARY) context.report({ node, messageId: "elsewhere", data: names });
      } else if (to.layer > from.layer) context.report({ node, messageId: "upwards", data: names });
    }

    return {
      Program(node) {
        if (from.layer < 0) context.report({ node, messageId: "unknown", data: { folder: nameOf(from) } });
      },
      "ImportDeclaration, ExportNamedDeclaration, ExportAllDeclaration, ImportExpression, TSImportType"(
        node,
      ) {
        check(node, node.source?.value);
      },
    };
  },
};

/** The file below web/ that an import names; null for a package and for generated code. */
function targetOf(file, source) {
  if (source.startsWith("#lib/")) return posix.join(LIBRARY, source.slice("#lib/".length));
  return source.startsWith(".") ? posix.join(posix.dirname(file), source) : null;
}

/** The tree and folder of a file, and the place of the folder in the list, -1 without one; null outside all trees. */
function placeOf(file) {
  const tree = file === null ? undefined : Object.keys(LAYERS).find((name) => file.startsWith(`${name}/`));
  if (tree === undefined) return null;
  const folder = posix.dirname(file).slice(tree.length + 1);
  return { tree, folder, layer: LAYERS[tree].indexOf(folder) };
}

function nameOf({ tree, folder }) {
  return folder === "" ? `${tree}/` : `${tree}/${folder}/`;
}

function slashes(path) {
  return path.replaceAll("\\", "/");
}
