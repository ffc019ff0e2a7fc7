/** The pictures of the tools. */
import type { ReactNode } from "react";
import type { Kind } from "./drawing.ts";

const LINES: Readonly<Record<Kind | "snap", ReactNode>> = {
  trend_line: (
    <>
      <path d="M3.5 12.5 12.5 3.5" />
      <circle cx="3" cy="13" r="1.5" />
      <circle cx="13" cy="3" r="1.5" />
    </>
  ),
  ray: (
    <>
      <path d="M3.5 12.5 15 1" />
      <circle cx="3" cy="13" r="1.5" />
      <circle cx="9" cy="7" r="1.5" />
    </>
  ),
  horizontal_line: (
    <>
      <path d="M1 8h14" />
      <circle cx="8" cy="8" r="1.5" />
    </>
  ),
  fibonacci: <path d="M1 2.5h14M1 6h14M1 8h14M1 10h14M1 13.5h14" />,
  rectangle: <path d="M2 3.5h12v9H2z" />,
  text: <path d="M3 3.5h10M8 3.5v10M6 13.5h4" />,
  snap: <path d="M4 2v5.5a4 4 0 0 0 8 0V2M2.5 4.5h3M10.5 4.5h3" />,
};

export function ToolIcon({ name }: { name: Kind | "snap" }) {
  return (
    <svg
      width="16"
      height="16"
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.3"
      aria-hidden
    >
      {LINES[name]}
    </svg>
  );
}
