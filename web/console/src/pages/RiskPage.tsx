import { Card } from "#lib/components/Card.tsx";
import { PageHeader } from "#lib/components/PageHeader.tsx";
import { useUrlState } from "#lib/urlState.ts";
import { useSource } from "../operator/participants.ts";
import { FilterBar, TextFilter } from "../parts/filters.tsx";
import { RiskTable } from "../parts/RiskTable.tsx";
import { SaveAsFile } from "../parts/SaveAsFile.tsx";
import { SavedViews } from "../parts/SavedViews.tsx";

export function RiskPage() {
  const url = useUrlState();
  const isOperated = useSource("risk.read") === "edge";
  const participantId = url.parameter("participant");
  return (
    <>
      <PageHeader
        title="Risk"
        actions={
          <>
            <SavedViews page="risk" />
            {isOperated && (
              <SaveAsFile
                path="risk"
                name="risk"
                needs="balances.export"
                given={participantId === "" ? {} : { participantId }}
                holds="in the order in which the accounts were made, with the ids of users"
              />
            )}
          </>
        }
      >
        How much of each balance is locked by open orders. From 90 % on a bar changes its colour.
      </PageHeader>
      <Card flush>
        <RiskTable
          participantId={participantId}
          url={url}
          toolbar={
            <FilterBar isFiltered={participantId !== ""} onClear={() => url.change({ participant: null })}>
              <TextFilter
                label="Participant id"
                value={participantId}
                onChange={(participant) => url.change({ participant })}
              />
            </FilterBar>
          }
        />
      </Card>
    </>
  );
}
