/** How many entries of a list lie below what is in sight. */
import { type RefObject, useEffect, useState } from "react";

/** Counts again when the list is scrolled, and when its `length` changes. An entry counts once half of it is hidden. */
export function useHidden(list: RefObject<HTMLElement | null>, length: number): number {
  const [hidden, setHidden] = useState(0);
  useEffect(() => {
    const box = list.current;
    if (!box) return undefined;
    const count = () => {
      const end = box.getBoundingClientRect().bottom;
      const below = [...box.querySelectorAll("li")].filter((entry) => {
        const { top, height } = entry.getBoundingClientRect();
        return top + height / 2 > end;
      });
      setHidden(below.length);
    };
    count();
    const resizes = new ResizeObserver(count);
    resizes.observe(box);
    box.addEventListener("scroll", count, { passive: true });
    return () => {
      resizes.disconnect();
      box.removeEventListener("scroll", count);
    };
  }, [list, length]);
  return hidden;
}
