import { Card } from "#lib/components/Card.tsx";
import { PageHeader } from "#lib/components/PageHeader.tsx";
import { useUrlState } from "#lib/urlState.ts";
import { useSymbolNames } from "../engine/queries.ts";
import { ChoiceFilter, FilterBar, StatusFilter, TextFilter } from "../parts/filters.tsx";
import { OrdersTable } from "../parts/OrdersTable.tsx";
import { SavedViews } from "../parts/SavedViews.tsx";

export function OrdersPage() {
  const url = useUrlState();
  const symbols = useSymbolNames();
  const filter = {
    participantId: url.parameter("participant"),
    symbol: url.parameter("symbol"),
    status: url.parameter("status"),
  };
  return (
    <>
      <PageHeader title="Orders" actions={<SavedViews page="orders" />}>
        Open orders, and those ended ones that the engine remembers, newest first.
      </PageHeader>
      <Card flush>
        <OrdersTable
          filter={filter}
          url={url}
          toolbar={
            <FilterBar
              isFiltered={Object.values(filter).some((value) => value !== "")}
              onClear={() => url.change({ participant: null, symbol: null, status: null })}
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
              <StatusFilter value={filter.status} onChange={(status) => url.change({ status })} />
            </FilterBar>
          }
        />
      </Card>
    </>
  );
}
