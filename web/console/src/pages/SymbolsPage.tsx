import { Button } from "@mantine/core";
import {
  CheckCircleIcon,
  ClockIcon,
  ListUnorderedIcon,
  PencilIcon,
  PlusIcon,
  StopIcon,
  TrashIcon,
} from "@primer/octicons-react";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import { Amount } from "#lib/components/Amount.tsx";
import { Card } from "#lib/components/Card.tsx";
import { type Column, DataTable } from "#lib/components/DataTable.tsx";
import { PageHeader } from "#lib/components/PageHeader.tsx";
import { EmptyState } from "#lib/components/states.tsx";
import { formatCount } from "#lib/counts.ts";
import { compareDecimals } from "#lib/decimal.ts";
import { arrange, useUrlState } from "#lib/urlState.ts";
import { phaseTitle, type SymbolSpec } from "../engine/markets.ts";
import { useSymbols } from "../engine/queries.ts";
import { explainIfAny } from "../engine/messages.ts";
import { ActiveState } from "../parts/badges.tsx";
import { SymbolPhaseDialog } from "../parts/MarketPhaseDialog.tsx";
import { DeleteSymbolDialog, SymbolFeesDialog, SymbolStateDialog } from "../parts/symbolDialogs.tsx";

const COLUMNS: readonly Column<SymbolSpec>[] = [
  {
    id: "symbol",
    title: "Symbol",
    cell: (row) => <strong>{row.symbol}</strong>,
    compare: (a, b) => a.symbol.localeCompare(b.symbol, "en"),
  },
  {
    id: "number",
    title: "Number",
    align: "right",
    cell: (row) => <span className="figures">{row.symbolId}</span>,
    compare: (a, b) => a.symbolId - b.symbolId,
  },
  {
    id: "base",
    title: "Base",
    cell: (row) => row.baseCurrency,
    compare: (a, b) => a.baseCurrency.localeCompare(b.baseCurrency, "en"),
  },
  {
    id: "quote",
    title: "Quote",
    cell: (row) => row.quoteCurrency,
    compare: (a, b) => a.quoteCurrency.localeCompare(b.quoteCurrency, "en"),
  },
  {
    id: "tick",
    title: "Tick size",
    align: "right",
    cell: (row) => <Amount value={row.tickSize} unit={row.quoteCurrency} />,
    compare: (a, b) => compareDecimals(a.tickSize, b.tickSize),
  },
  {
    id: "lot",
    title: "Lot size",
    align: "right",
    cell: (row) => <Amount value={row.lotSize} unit={row.baseCurrency} />,
    compare: (a, b) => compareDecimals(a.lotSize, b.lotSize),
  },
  {
    id: "taker",
    title: "Taker fee",
    align: "right",
    cell: (row) => <span className="figures">{formatCount(row.takerFee)} bps</span>,
    compare: (a, b) => a.takerFee - b.takerFee,
  },
  {
    id: "maker",
    title: "Maker fee",
    align: "right",
    cell: (row) => <span className="figures">{formatCount(row.makerFee)} bps</span>,
    compare: (a, b) => a.makerFee - b.makerFee,
  },
  { id: "state", title: "State", cell: (row) => <ActiveState active={row.active} /> },
  { id: "phase", title: "Phase", cell: (row) => phaseTitle(row.phase, row.phaseCause) },
];

interface Dialog {
  kind: "fees" | "state" | "phase" | "delete";
  symbol: SymbolSpec;
}

export function SymbolsPage() {
  const url = useUrlState();
  const query = useSymbols();
  const [, navigate] = useLocation();
  const [dialog, setDialog] = useState<Dialog | null>(null);
  const compare = COLUMNS.find(({ id }) => id === url.sort?.column)?.compare;
  const everything = { index: 0, size: query.data?.length ?? 0 };
  const close = () => setDialog(null);
  return (
    <>
      <PageHeader
        title="Symbols"
        actions={
          <Button component={Link} href="/symbols/new" leftSection={<PlusIcon />}>
            New symbol
          </Button>
        }
      >
        The markets of the engine. A symbol that is inactive takes no new orders; those in its book stay.
      </PageHeader>
      <Card flush>
        <DataTable
          label="Symbols"
          columns={COLUMNS}
          rows={query.data && arrange(query.data, compare, url.sort?.descending ?? false, everything)}
          rowId={(row) => row.symbol}
          rowName={(row) => row.symbol}
          state={query}
          problem={explainIfAny(query.error)}
          sort={url.sort}
          onSort={url.toggleSort}
          empty={
            <EmptyState title="No symbols yet">
              Create currencies first, then a symbol of two of them.
            </EmptyState>
          }
          actions={(symbol) => [
            {
              label: "Change fees…",
              icon: <PencilIcon />,
              onClick: () => setDialog({ kind: "fees", symbol }),
            },
            {
              label: "Show open orders",
              icon: <ListUnorderedIcon />,
              onClick: () => navigate(`/orders?symbol=${symbol.symbol}&status=OPEN`),
            },
            {
              label: symbol.active ? "Deactivate…" : "Activate…",
              icon: symbol.active ? <StopIcon /> : <CheckCircleIcon />,
              onClick: () => setDialog({ kind: "state", symbol }),
            },
            {
              label: "Set phase…",
              icon: <ClockIcon />,
              onClick: () => setDialog({ kind: "phase", symbol }),
            },
            {
              label: "Delete…",
              icon: <TrashIcon />,
              danger: true,
              onClick: () => setDialog({ kind: "delete", symbol }),
            },
          ]}
        />
      </Card>
      {dialog?.kind === "fees" && <SymbolFeesDialog symbol={dialog.symbol} onClose={close} />}
      {dialog?.kind === "state" && <SymbolStateDialog symbol={dialog.symbol} onClose={close} />}
      {dialog?.kind === "phase" && <SymbolPhaseDialog symbol={dialog.symbol} onClose={close} />}
      {dialog?.kind === "delete" && <DeleteSymbolDialog symbol={dialog.symbol} onClose={close} />}
    </>
  );
}
