/** Why a line of an imported file was refused, in the language of the page. Pure. */
import { sayReason } from "../api/messages.ts";
import type { ImportReport } from "./queries.ts";

type Fault = ImportReport["refused"][number]["reasons"][number];

/** What is wrong with a field, or with the whole line if `field` is empty; with its language if that is not the page's. */
export function sayFault({ field, reason }: Fault): ReturnType<typeof sayReason> {
  const said = sayReason(reason);
  if (field === "") return said;
  // The field is said apart: a template that begins with a value would take it for one.
  return said.language === undefined
    ? { detail: `${sayReason(field).detail}: ${said.detail}` }
    : { ...said, detail: `${field} ${reason}` };
}
