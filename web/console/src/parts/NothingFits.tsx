import { EmptyState } from "#lib/components/states.tsx";

interface Props {
  /** What a row is: "order". */
  noun: string;
  isFiltered: boolean;
  /** Whether the edge has looked through a part only. */
  hasMore: boolean;
}

/** What stands in an empty list of orders or trades. The edge looks through the newest rows first. */
export function NothingFits({ noun, isFiltered, hasMore }: Props) {
  if (hasMore) {
    return (
      <EmptyState title={`None of the newest ${noun}s fits`}>
        Older ones were not looked through yet. Days narrow the search.
      </EmptyState>
    );
  }
  return (
    <EmptyState title={`No ${noun}s`}>
      {isFiltered ? "Nothing fits the filters." : "There is nothing yet."}
    </EmptyState>
  );
}
