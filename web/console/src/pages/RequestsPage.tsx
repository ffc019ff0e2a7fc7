import { Card } from "#lib/components/Card.tsx";
import { PageHeader } from "#lib/components/PageHeader.tsx";
import { useUrlState } from "#lib/urlState.ts";
import { DayFilters, NO_DAYS } from "../parts/DayFilters.tsx";
import { ChoiceFilter, FilterBar } from "../parts/filters.tsx";
import { RequestsTable } from "../parts/RequestsTable.tsx";
import { SaveAsFile } from "../parts/SaveAsFile.tsx";
import { SavedViews } from "../parts/SavedViews.tsx";
import { daysOf, spanOf } from "../people/span.ts";

const STATES = [
  { value: "waiting", label: "Waits for a person" },
  { value: "approved", label: "Approved" },
  { value: "rejected", label: "Rejected" },
] as const;

/** What needs two persons. */
export function RequestsPage() {
  const url = useUrlState();
  const status = STATES.find(({ value }) => value === url.parameter("state"))?.value;
  const given = { ...(status === undefined ? {} : { status }), ...spanOf(daysOf(url.parameter)) };
  return (
    <>
      <PageHeader
        title="Approvals"
        actions={
          <>
            <SavedViews page="approvals" />
            <SaveAsFile path="requests" name="requests" needs="users.export" given={given} />
          </>
        }
      >
        What one operator asked for and another person decides. Nobody approves what they asked for
        themselves.
      </PageHeader>
      <Card flush>
        <RequestsTable
          filter={given}
          toolbar={
            <FilterBar
              isFiltered={Object.keys(given).length > 0}
              onClear={() => url.change({ state: null, ...NO_DAYS })}
            >
              <ChoiceFilter
                label="State"
                any="Any state"
                value={status ?? ""}
                choices={STATES}
                onChange={(state) => url.change({ state })}
              />
              <DayFilters url={url} />
            </FilterBar>
          }
        />
      </Card>
    </>
  );
}
