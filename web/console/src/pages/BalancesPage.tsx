import { Button } from "@mantine/core";
import { DiffIcon } from "@primer/octicons-react";
import { useState } from "react";
import { Card } from "#lib/components/Card.tsx";
import { PageHeader } from "#lib/components/PageHeader.tsx";
import { useUrlState } from "#lib/urlState.ts";
import { useCurrencies } from "../engine/queries.ts";
import { useSession } from "../engine/session.ts";
import { useListings } from "../operator/listings.ts";
import { useSource } from "../operator/participants.ts";
import { AdjustBalanceDialog } from "../parts/AdjustBalanceDialog.tsx";
import { BalancesTable } from "../parts/BalancesTable.tsx";
import { ChoiceFilter, FilterBar, TextFilter } from "../parts/filters.tsx";
import { SaveAsFile } from "../parts/SaveAsFile.tsx";
import { SavedViews } from "../parts/SavedViews.tsx";

export function BalancesPage() {
  const url = useUrlState();
  const currencies = useCurrencyNames();
  const isOperated = useSource("balances.read_all") === "edge";
  const hasEngine = useSession().session !== null;
  const [isAdjusting, setAdjusting] = useState(false);
  const participantId = url.parameter("participant");
  const currency = url.parameter("currency");
  return (
    <>
      <PageHeader
        title="Balances"
        actions={
          <>
            <SavedViews page="balances" />
            {isOperated && (
              <SaveAsFile
                path="balances"
                name="balances"
                needs="balances.export"
                given={{
                  ...(participantId === "" ? {} : { participantId }),
                  ...(currency === "" ? {} : { currency }),
                }}
                holds="in the order in which the accounts were made, with the ids of users"
              />
            )}
            {hasEngine && (
              <Button leftSection={<DiffIcon />} onClick={() => setAdjusting(true)}>
                Adjust at the engine alone
              </Button>
            )}
          </>
        }
      >
        The engine's balances. Locked backs open orders; reserved is kept for withdrawals and worst-case fees.
        A user's balance is adjusted on the page of the user, at engine and ledger.
      </PageHeader>
      <Card flush>
        <BalancesTable
          participantId={participantId}
          currency={currency}
          url={url}
          toolbar={
            <FilterBar
              isFiltered={participantId !== "" || currency !== ""}
              onClear={() => url.change({ participant: null, currency: null })}
            >
              <TextFilter
                label="Participant id"
                value={participantId}
                onChange={(participant) => url.change({ participant })}
              />
              <ChoiceFilter
                label="Currency"
                any="Any currency"
                value={currency}
                choices={currencies}
                onChange={(next) => url.change({ currency: next })}
              />
            </FilterBar>
          }
        />
      </Card>
      {isAdjusting && <AdjustBalanceDialog onClose={() => setAdjusting(false)} />}
    </>
  );
}

/** The currencies to choose from: the engine's, or to an operator those of the markets. */
function useCurrencyNames(): string[] {
  const isOperated = useSource("balances.read_all") === "edge";
  const currencies = useCurrencies(!isOperated);
  const markets = useListings(isOperated);
  if (!isOperated) return currencies.data?.map(({ currency }) => currency) ?? [];
  const names = markets.data?.flatMap(({ baseCurrency, quoteCurrency }) => [baseCurrency, quoteCurrency]);
  return [...new Set(names)].sort();
}
