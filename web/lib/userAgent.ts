/** What a program calls itself in a request (`User-Agent`), in words that people know. */

/** Browsers name others for old pages' sake: the first of these that is named is the one. */
const BROWSERS: readonly [mark: RegExp, name: string][] = [
  [/\b(?:Edg|EdgA|EdgiOS)\//, "Edge"],
  [/\bOPR\//, "Opera"],
  [/\bSamsungBrowser\//, "Samsung Internet"],
  [/\b(?:Firefox|FxiOS)\//, "Firefox"],
  [/\b(?:HeadlessChrome|Chrome|CriOS)\//, "Chrome"],
  [/\bVersion\/\S+ (?:Mobile\/\S+ )?Safari\//, "Safari"],
];
const SYSTEMS: readonly [mark: RegExp, name: string][] = [
  [/\biPhone\b/, "iPhone"],
  [/\biPad\b/, "iPad"],
  [/\bAndroid\b/, "Android"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bWindows\b/, "Windows"],
  [/\bMacintosh\b/, "macOS"],
  [/\bLinux\b/, "Linux"],
];

/** "Firefox on Windows" for a browser; what the program says of itself for another one. */
export function programName(userAgent: string): string {
  const [browser, system] = [BROWSERS, SYSTEMS].map(
    (known) => known.find(([mark]) => mark.test(userAgent))?.[1],
  );
  if (browser === undefined) return userAgent || "unknown";
  return system === undefined ? browser : `${browser} on ${system}`;
}
