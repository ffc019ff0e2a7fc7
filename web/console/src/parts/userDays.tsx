import type { ReactNode } from "react";
import { useUrlState } from "#lib/urlState.ts";
import type { Permission } from "../operator/session.ts";
import { daysOf, type Span, spanOf } from "../people/span.ts";
import { accountName, accountQuery } from "../people/trading.ts";
import { DayFilters, NO_DAYS } from "./DayFilters.tsx";
import { ChoiceFilter, FilterBar } from "./filters.tsx";
import { SaveAsFile } from "./SaveAsFile.tsx";

interface Saved {
  /** Names the list at the edge: "orders". */
  list: string;
  needs: Permission;
  /** Whether it is the list over all users, narrowed to this one. */
  ofEverybody?: boolean;
  /** What else is in the file. */
  holds?: string;
  /** The accounts of the user, if one can be chosen, and what it means to choose none. */
  accounts?: { ids: readonly string[]; none: string };
}

interface DaysOfAUser {
  span: Span & { account?: string };
  isFiltered: boolean;
  toolbar: ReactNode;
}

/** The days and the account of a list of one user, and the way to save it. */
export function useUserDays(
  userId: string,
  { list, needs, ofEverybody = false, holds = "with the ids of users", accounts }: Saved,
): DaysOfAUser {
  const url = useUrlState();
  const ids = accounts?.ids ?? [];
  const account = accountQuery(url.parameter, ids);
  const span = { ...spanOf(daysOf(url.parameter)), ...account };
  const isFiltered = Object.keys(span).length > 0;
  const toolbar = (
    <>
      <FilterBar isFiltered={isFiltered} onClear={() => url.change({ ...NO_DAYS, account: null })}>
        {accounts && ids.length > 1 && (
          <ChoiceFilter
            label="Account"
            any={accounts.none}
            value={account.account ?? ""}
            choices={ids.map((id) => ({ value: id, label: accountName(id) }))}
            onChange={(id) => url.change({ account: id })}
          />
        )}
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
