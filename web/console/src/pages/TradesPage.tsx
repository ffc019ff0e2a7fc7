import { Card } from "#lib/components/Card.tsx";
import { PageHeader } from "#lib/components/PageHeader.tsx";
import { useUrlState } from "#lib/urlState.ts";
import { useSymbolNames } from "../engine/queries.ts";
import { ChoiceFilter, FilterBar, TextFilter } from "../parts/filters.tsx";
import { TradesTable } from "../parts/TradesTable.tsx";
import { SavedViews } from "../parts/SavedViews.tsx";

export function TradesPage() {
  const url = useUrlState();
  const symbols = useSymbolNames();
  const filter = { participantId: url.parameter("participant"), symbol: url.parameter("symbol") };
  return (
    <>
      <PageHeader title="Trades" actions={<SavedViews page="trades" />}>
        Every trade among the newest events of the engine, newest first. A negative maker fee is a rebate.
      </PageHeader>
      <Card flush>
        <TradesTable
          filter={filter}
          url={url}
          toolbar={
            <FilterBar
              isFiltered={Object.values(filter).some((value) => value !== "")}
              onClear={() => url.change({ participant: null, symbol: null })}
            >
              <TextFilter
                label="Participant id"
                value={filter.participantId}
                onChange={(participant) => url.change({ participant })}
              />
              <ChoiceFilter
                label="Symbol"
                any="Any symbol"
                value={filter.symbol}
                choices={symbols}
                onChange={(symbol) => url.change({ symbol })}
              />
            </FilterBar>
          }
        />
      </Card>
    </>
  );
}
