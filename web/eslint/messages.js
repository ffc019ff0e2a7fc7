/**
 * The texts that a source file shows, found where `lib/language.ts` is called: what the catalogues of the other
 * languages must have, and no more.
 */
import ts from "typescript";

/** A string in a table of `texts` that is a text; others are names, tones and signs. */
export const isText = (value) => /^[“(]?\p{Lu}.*\p{Ll}/u.test(value);

/** The texts of a file: `message` is the English text, `one` that for a count of one if it has forms. */
export function messagesOf(fileName, source) {
  const file = ts.createSourceFile(fileName, source, ts.ScriptTarget.Latest, true);
  const found = [];
  const literal = (node) => (node && ts.isStringLiteralLike(node) ? node.text : null);

  function table(node) {
    if (ts.isPropertyAssignment(node)) return table(node.initializer);
    const text = literal(node);
    if (text === null) return ts.forEachChild(node, table);
    if (isText(text)) found.push({ message: text });
  }

  function visit(node) {
    if (ts.isCallExpression(node) && ts.isIdentifier(node.expression)) {
      const [first, second, third] = node.arguments;
      switch (node.expression.text) {
        case "t":
        case "rich":
          if (literal(first) !== null) found.push({ message: literal(first) });
          break;
        case "several":
          if (literal(third) !== null) found.push({ message: literal(third), one: literal(second) });
          break;
        case "texts":
          table(first);
          break;
      }
    }
    ts.forEachChild(node, visit);
  }

  visit(file);
  return found;
}

/** The names in braces of a text, in alphabetical order, each once. */
export const placeholdersOf = (text) =>
  [...new Set([...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name))].sort();
