import { Card } from "#lib/components/Card.tsx";
import { PageHeader } from "#lib/components/PageHeader.tsx";
import { useUrlState } from "#lib/urlState.ts";
import { ChoiceFilter, FilterBar } from "../parts/filters.tsx";
import { RequestsTable } from "../parts/RequestsTable.tsx";
import { SavedViews } from "../parts/SavedViews.tsx";

const STATES = [
  { value: "waiting", label: "Waits for a person" },
  { value: "approved", label: "Approved" },
  { value: "rejected", label: "Rejected" },
] as const;

/** What needs two persons. */
export function RequestsPage() {
  const url = useUrlState();
  const status = STATES.find(({ value }) => value === url.parameter("state"))?.value ?? "";
  return (
    <>
      <PageHeader title="Approvals" actions={<SavedViews page="approvals" />}>
        What one operator asked for and another person decides. Nobody approves what they asked for
        themselves.
      </PageHeader>
      <Card flush>
        <RequestsTable
          status={status}
          toolbar={
            <FilterBar isFiltered={status !== ""} onClear={() => url.change({ state: null })}>
              <ChoiceFilter
                label="State"
                any="Any state"
                value={status}
                choices={STATES}
                onChange={(state) => url.change({ state })}
              />
            </FilterBar>
          }
        />
      </Card>
    </>
  );
}
