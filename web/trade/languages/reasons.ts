import type { Language } from "#lib/language.ts";
import { reasonsIn } from "../src/api/messages.ts";
import type { Reasons } from "../src/api/reasons.ts";

/** Loads the reasons of refusals in a language. The page is drawn without them, so they come after its texts. */
export function loadReasons(language: Language, load: () => Promise<{ default: Reasons }>): void {
  void Promise.all([import("../src/api/reasons.ts"), load()]).then(
    ([{ sayIn }, { default: reasons }]) => {
      reasonsIn[language] = sayIn(reasons);
    },
    // Without a connection refusals are told in English.
    () => undefined,
  );
}
