import { useEffect } from "react";
import { Amount } from "#lib/components/Amount.tsx";
import { Card } from "#lib/components/Card.tsx";
import { rich, t } from "#lib/language.ts";
import { scaledText } from "#lib/scaled.ts";
import type { ReactNode } from "react";
import { useAssetPrices } from "../api/assetPrices.ts";
import { useBalances, useMarkets } from "../api/queries.ts";
import { useMarginAccount } from "../margin/queries.ts";
import { type ElsewhereValue, valueElsewhere, valueOf } from "../portfolio/valuation.ts";
import { useStakes, useUnstakes } from "../staking/queries.ts";
import classes from "./Worth.module.css";

export const UNIT = "USD";

/** The user's funds at the fair prices: the wallet, and what is owned elsewhere. */
export function useWorth() {
  const balances = useBalances();
  const markets = useMarkets();
  const prices = useAssetPrices();
  const stakes = useStakes();
  const unstakes = useUnstakes();
  const margin = useMarginAccount();
  useAllPages(stakes);
  useAllPages(unstakes);
  const symbols = (markets.data ?? [])
    .filter(({ quoteAsset, active }) => quoteAsset === UNIT && active)
    .map(({ symbol }) => symbol);
  const wallet = valueOf(balances.data ?? [], prices.data ?? []);
  const staked = (stakes.data?.pages ?? []).flatMap(({ rows }) =>
    rows.filter(({ status }) => status === "active"),
  );
  const returning = (unstakes.data?.pages ?? []).flatMap(({ rows }) =>
    rows.filter(({ amountPaid }) => !amountPaid),
  );
  const equity = margin.data?.equity ?? null;
  const parts = [
    { name: t("staked"), amounts: [...staked, ...returning] },
    {
      name: t("in the margin account"),
      amounts: margin.data && equity !== null ? [{ asset: margin.data.valuationAsset, amount: equity }] : [],
    },
  ];
  const elsewhere = valueElsewhere(parts, prices.data ?? []);
  const missing = [
    (stakes.data === undefined || unstakes.data === undefined) && t("stakes"),
    (margin.data === undefined || (margin.data !== null && equity === null)) && t("the margin account"),
  ].filter((name) => name !== false);
  return { balances, prices, symbols, wallet, elsewhere, missing };
}

/** A list that grows page by page, read to its end. */
function useAllPages(query: { hasNextPage: boolean; isFetching: boolean; fetchNextPage: () => unknown }) {
  const { hasNextPage, isFetching, fetchNextPage } = query;
  useEffect(() => {
    if (hasNextPage && !isFetching) void fetchNextPage();
  }, [hasNextPage, isFetching, fetchNextPage]);
}

/** The sum of everything, and what of it is outside of the wallet. */
export function WorthCard({ worth, children }: { worth: ReturnType<typeof useWorth>; children?: ReactNode }) {
  const { balances, prices, wallet, elsewhere, missing } = worth;
  const total = elsewhere.reduce((sum, { value }) => sum + value, wallet.total);
  const unpriced = [...new Set([...wallet.unpriced, ...elsewhere.flatMap((part) => part.unpriced)])];
  return (
    <Card title={t("Worth about")}>
      <p className={classes.total}>{balances.data && prices.data ? <Dollars value={total} /> : "–"}</p>
      {elsewhere.length > 0 && (
        <p className={classes.note}>
          {rich("In the wallet {dollars}", { dollars: <Dollars value={wallet.total} /> })}
          {elsewhere.map(({ name, value }: ElsewhereValue) => (
            <span key={name}>
              , {name} <Dollars value={value} />
            </span>
          ))}
          .
        </p>
      )}
      <p className={classes.note}>
        {t("By the fair prices of the markets.")}
        {unpriced.length > 0 &&
          " " + t("Without a price, not counted: {unpriced}.", { unpriced: unpriced.join(", ") })}
        {missing.length > 0 &&
          balances.data &&
          " " + t("Not known now, not counted: {missing}.", { missing: missing.join(", ") })}
      </p>
      {children}
    </Card>
  );
}

function Dollars({ value }: { value: bigint }) {
  return <Amount value={scaledText(value)} unit={UNIT} places={2} />;
}
