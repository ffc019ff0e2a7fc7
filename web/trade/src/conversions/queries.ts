/** The type and the query key of conversions. */
import type { Schemas } from "../api/client.ts";

export type Conversion = Schemas["ConversionResponse"];

/** It begins with "funds": a notification reads the list again. */
export const CONVERSIONS = ["funds", "conversions"] as const;
