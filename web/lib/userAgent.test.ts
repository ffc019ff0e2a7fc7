import { expect, it } from "vitest";
import { programName } from "./userAgent.ts";

const WEBKIT = "AppleWebKit/605.1.15 (KHTML, like Gecko)";
const BLINK = "AppleWebKit/537.36 (KHTML, like Gecko)";

it.each([
  [`Mozilla/5.0 (X11; Linux x86_64) ${BLINK} Chrome/130.0.0.0 Safari/537.36`, "Chrome on Linux"],
  [`Mozilla/5.0 (X11; Linux x86_64) ${BLINK} HeadlessChrome/130.0.0.0 Safari/537.36`, "Chrome on Linux"],
  [
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${BLINK} Chrome/130.0.0.0 Safari/537.36 Edg/130.0.0.0`,
    "Edge on Windows",
  ],
  [`Mozilla/5.0 (Linux; Android 14) ${BLINK} Chrome/130.0.0.0 Mobile Safari/537.36`, "Chrome on Android"],
  ["Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:132.0) Gecko/20100101 Firefox/132.0", "Firefox on Windows"],
  [
    `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${WEBKIT} Version/18.0 Safari/605.1.15`,
    "Safari on macOS",
  ],
  [
    `Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) ${WEBKIT} Version/18.0 Mobile/15E148 Safari/604.1`,
    "Safari on iPhone",
  ],
  [
    `Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) ${WEBKIT} CriOS/130.0 Mobile/15E148 Safari/604.1`,
    "Chrome on iPhone",
  ],
  ["Python-urllib/3.11", "Python-urllib/3.11"],
  ["", "unknown"],
])("%s is %s", (userAgent, name) => expect(programName(userAgent)).toBe(name));
