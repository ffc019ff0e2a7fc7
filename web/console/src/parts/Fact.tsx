import type { ReactNode } from "react";

/** One thing that is known, within a list of facts; – if nothing is. */
export function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children ?? "–"}</dd>
    </div>
  );
}
