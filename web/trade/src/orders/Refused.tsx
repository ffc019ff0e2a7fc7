import { ProblemNote } from "#lib/components/states.tsx";
import { explainOrder } from "./refusals.ts";

/** Why an order was not placed. */
export default function Refused({ error }: { error: unknown }) {
  return <ProblemNote problem={explainOrder(error)} />;
}
