/** Why money of the house comes from outside or goes there, in words. */
import type { HouseFlow } from "../people/treasury.ts";

export const FLOW_CATEGORIES: readonly { value: HouseFlow["category"]; label: string }[] = [
  { value: "capital", label: "Capital of the owners" },
  { value: "profit", label: "Profit" },
  { value: "costs", label: "Costs" },
  { value: "settlement", label: "Settlement with a provider" },
  { value: "correction", label: "Correction of a record" },
];

/** The words of a category. */
export function flowCategoryName(category: HouseFlow["category"]): string {
  return FLOW_CATEGORIES.find(({ value }) => value === category)?.label ?? category;
}
