import { t } from "./language.ts";
import { separators } from "./separators.ts";

/** What a decimal is typed with, for a fault: "digits with a point". */
export function decimalForm(): string {
  return separators().decimal === "." ? t("digits with a point") : t("digits with a comma or a point");
}
