/** How a document may be called. */
const NAME_LENGTH_MAX = 255;

/** The name of a file without what the exchange refuses in one: control characters, and others that are not seen. */
export function sendableName(name: string): string {
  return Array.from(name.replaceAll(/[\p{C}\p{Zl}\p{Zp}/\\]/gu, ""))
    .slice(0, NAME_LENGTH_MAX)
    .join("");
}
