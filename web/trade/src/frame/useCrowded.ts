/** Whether entries that stand beside each other have no room. */
import { type RefObject, useLayoutEffect, useState } from "react";
import { useLanguage } from "#lib/language.ts";

/** Compares the entries of `row` with the room of `box`, whose width must not depend on them. */
export function useCrowded(box: RefObject<HTMLElement | null>, row: RefObject<HTMLElement | null>): boolean {
  const [isCrowded, setCrowded] = useState(false);
  const language = useLanguage();
  useLayoutEffect(() => {
    const [room, entries] = [box.current, row.current];
    if (!room || !entries) return undefined;
    const compare = () => setCrowded(entries.scrollWidth > room.clientWidth);
    compare();
    const resizes = new ResizeObserver(compare);
    resizes.observe(room);
    // A font that comes later makes the entries wider.
    resizes.observe(entries);
    return () => resizes.disconnect();
  }, [box, row, language]);
  return isCrowded;
}
