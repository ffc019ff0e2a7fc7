import { Title } from "@mantine/core";
import { Amount } from "#lib/components/Amount.tsx";
import { type Column, DataTable, type ListState } from "#lib/components/DataTable.tsx";
import { EmptyState, type Problem } from "#lib/components/states.tsx";
import type { Move } from "./CollateralDialog.tsx";
import classes from "./Margin.module.css";
import type { MarginAccount, MarginBalance } from "./queries.ts";

const COLUMNS: Column<MarginBalance>[] = [
  { id: "asset", title: "Asset", cell: ({ asset }) => <strong>{asset}</strong> },
  { id: "total", title: "Total", align: "right", cell: ({ total }) => <Amount value={total} /> },
  {
    id: "available",
    title: "Available",
    align: "right",
    cell: ({ available }) => <Amount value={available} />,
  },
  { id: "borrowed", title: "Borrowed", align: "right", cell: ({ borrowed }) => <Amount value={borrowed} /> },
  {
    id: "interest",
    title: "Interest owed",
    align: "right",
    cell: ({ interest }) => <Amount value={interest} />,
  },
];

/** What the account holds and owes of each asset. */
export function Balances({
  account,
  state,
  problem,
  onMove,
}: {
  account: MarginAccount;
  state: ListState;
  problem: Problem | null;
  onMove: (move: Move) => void;
}) {
  return (
    <DataTable
      label="Margin balances"
      toolbar={
        <Title order={2} className={classes.title}>
          Balances
        </Title>
      }
      columns={COLUMNS}
      rows={account.balances}
      rowId={({ asset }) => asset}
      rowName={({ asset }) => asset}
      actions={({ asset }) => [
        { label: "Move in…", onClick: () => onMove({ direction: "in", asset }) },
        {
          label: "Move out…",
          onClick: () => onMove({ direction: "out", asset }),
          disabledReason: account.status === "active" ? undefined : "The account is being liquidated",
        },
      ]}
      state={state}
      problem={problem}
      empty={
        <EmptyState title="Nothing is in the account">
          Move collateral in: it pays for positions and secures what you borrow.
        </EmptyState>
      }
    />
  );
}
