import { Button, Stack } from "@mantine/core";
import { Link } from "wouter";
import { Card } from "#lib/components/Card.tsx";
import { type Column, DataTable } from "#lib/components/DataTable.tsx";
import { PageHeader } from "#lib/components/PageHeader.tsx";
import { EmptyState } from "#lib/components/states.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import { explainIfAny } from "../engine/messages.ts";
import { type ListingChange, useListingChanges } from "../operator/listings.ts";
import { CoinNetworks } from "../parts/CoinNetworks.tsx";

const COLUMNS: readonly Column<ListingChange>[] = [
  { id: "time", title: "Time", cell: ({ timestamp }) => <TimeText milliseconds={timestamp} /> },
  { id: "operator", title: "By", cell: ({ operator }) => operator },
  { id: "change", title: "Changed", cell: (change) => <Fields change={change} /> },
  { id: "reason", title: "Why", cell: ({ reason }) => reason },
];

function Fields({ change: { action, before, after } }: { change: ListingChange }) {
  if (action === "list") return "Listed";
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names.map((name) => (
    <div key={name}>
      {name}: {shown(before[name])} → {shown(after[name])}
    </div>
  ));
}

function shown(value: string | undefined): string {
  return value === undefined || value === "" ? "none" : value;
}

/** Who changed a market, when, why, and what was there before; and the networks of its base asset. */
export function ListingPage({ symbol }: { symbol: string }) {
  const query = useListingChanges(symbol);
  const rows = query.data?.changes;
  return (
    <>
      <PageHeader
        title={`Changes of ${symbol}`}
        actions={
          <Button component={Link} href="/listings" variant="default">
            All markets
          </Button>
        }
      >
        The newest first. The engine keeps the newest 200, and its journal all of them.
      </PageHeader>
      <Stack gap="md">
        <Card flush>
          <DataTable
            label="Changes"
            columns={COLUMNS}
            rows={rows}
            rowId={(row) => `${row.timestamp}-${row.action}-${row.operator}-${row.reason}`}
            rowName={(row) => row.reason}
            state={query}
            problem={explainIfAny(query.error)}
            empty={
              <EmptyState title="Nothing was changed">
                The market has the terms that the platform began with.
              </EmptyState>
            }
          />
        </Card>
        <CoinNetworks asset={symbol.split("-")[0] ?? symbol} />
      </Stack>
    </>
  );
}
