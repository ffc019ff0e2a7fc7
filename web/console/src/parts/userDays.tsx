import type { ReactNode } from "react";
import { useUrlState } from "#lib/urlState.ts";
import type { Permission } from "../operator/session.ts";
import { daysOf, type Span, spanOf } from "../people/span.ts";
import { DayFilters, NO_DAYS } from "./DayFilters.tsx";
import { FilterBar } from "./filters.tsx";
import { SaveAsFile } from "./SaveAsFile.tsx";

interface Saved {
  /** Names the list at the edge: "orders". */
  list: string;
  needs: Permission;
  /** Whether it is the list over all users, narrowed to this one. */
  ofEverybody?: boolean;
  /** What else is in the file. */
  holds?: string;
}

interface DaysOfAUser {
  span: Span;
  isFiltered: boolean;
  toolbar: ReactNode;
}

/** The days of a list of one user, and the way to save it. */
export function useUserDays(
  userId: string,
  { list, needs, ofEverybody = false, holds = "with the ids of users" }: Saved,
): DaysOfAUser {
  const url = useUrlState();
  const span = spanOf(daysOf(url.parameter));
  const isFiltered = Object.keys(span).length > 0;
  const toolbar = (
    <>
      <FilterBar isFiltered={isFiltered} onClear={() => url.change(NO_DAYS)}>
        <DayFilters url={url} />
      </FilterBar>
      <SaveAsFile
        path={ofEverybody ? list : `users/${encodeURIComponent(userId)}/${list}`}
        name={`${list}-${userId}`}
        needs={needs}
        given={ofEverybody ? { userId, ...span } : { ...span }}
        holds={holds}
      />
    </>
  );
  return { span, isFiltered, toolbar };
}
