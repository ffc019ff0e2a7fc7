import { Title } from "@mantine/core";
import { type Column, DataTable, type ListState } from "#lib/components/DataTable.tsx";
import { EmptyState, type Problem } from "#lib/components/states.tsx";
import { t } from "#lib/language.ts";
import { scaledText } from "#lib/scaled.ts";
import { countedOf, holdingsOf, marksOf } from "./figures.ts";
import type { Move } from "./asked.ts";
import classes from "./Margin.module.css";
import type { MarginAccount, MarginBalance } from "./queries.ts";
import { AssetAmount } from "../parts/AssetAmount.tsx";

const COLUMNS: Column<MarginBalance>[] = [
  {
    id: "asset",
    get title() {
      return t("Asset");
    },
    cell: ({ asset }) => <strong>{asset}</strong>,
  },
  {
    id: "total",
    get title() {
      return t("Total");
    },
    align: "right",
    cell: ({ total, asset }) => <AssetAmount value={total} asset={asset} hasUnit={false} />,
  },
  {
    id: "available",
    get title() {
      return t("Available");
    },
    align: "right",
    cell: ({ available, asset }) => <AssetAmount value={available} asset={asset} hasUnit={false} />,
  },
  {
    id: "borrowed",
    get title() {
      return t("Borrowed");
    },
    align: "right",
    cell: ({ borrowed, asset }) => <AssetAmount value={borrowed} asset={asset} hasUnit={false} />,
  },
  {
    id: "interest",
    get title() {
      return t("Interest owed");
    },
    align: "right",
    cell: ({ interest, asset }) => <AssetAmount value={interest} asset={asset} hasUnit={false} />,
  },
];

/** What an asset is worth to the account: how much of it secures debts, or why its price decides nothing now. */
const countsColumn = (account: MarginAccount): Column<MarginBalance> => {
  const [marks, holdings] = [marksOf(account), holdingsOf(account.balances)];
  return {
    id: "counts",
    title: t("Counts as collateral"),
    align: "right",
    cell: ({ asset, isOffered }) => {
      if (!isOffered) return t("not on margin");
      const [price, holding] = [marks.get(asset), holdings.get(asset)];
      if (price === undefined || holding === undefined) return t("no price");
      if (price.unsure !== null) return <span title={price.unsure}>{t("price not sure")}</span>;
      return <AssetAmount value={scaledText(countedOf(holding, price))} asset={asset} hasUnit={false} />;
    },
  };
};

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
      label={t("Margin balances")}
      toolbar={
        <Title order={2} className={classes.title}>
          {t("Balances")}
        </Title>
      }
      columns={[...COLUMNS, countsColumn(account)]}
      rows={account.balances}
      rowId={({ asset }) => asset}
      rowName={({ asset }) => asset}
      actions={({ asset, isOffered }) => [
        {
          label: t("Move in…"),
          onClick: () => onMove({ direction: "in", asset }),
          disabledReason: isOffered ? undefined : t("{asset} is not offered on margin", { asset }),
        },
        {
          label: t("Move out…"),
          onClick: () => onMove({ direction: "out", asset }),
          disabledReason: account.status === "active" ? undefined : t("The account is being liquidated"),
        },
      ]}
      state={state}
      problem={problem}
      empty={
        <EmptyState title={t("Nothing is in the account")}>
          {t("Move collateral in: it pays for positions and secures what you borrow.")}
        </EmptyState>
      }
    />
  );
}
