import { sayReason } from "../api/messages.ts";

/** A reason of the exchange in the language of the page; marked as English where that has no words for it. */
export function Said({ reason }: { reason: string }) {
  const { detail, language } = sayReason(reason);
  return <span lang={language}>{detail}</span>;
}
