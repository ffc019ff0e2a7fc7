import { useQuery } from "@tanstack/react-query";
import { Card } from "#lib/components/Card.tsx";
import { type Column, DataTable, withAreas } from "#lib/components/DataTable.tsx";
import { PageHeader } from "#lib/components/PageHeader.tsx";
import { EmptyState } from "#lib/components/states.tsx";
import { t } from "#lib/language.ts";
import { percentOfBps } from "#lib/rates.ts";
import { returned, type Schemas, useExchange } from "../api/client.ts";
import { explainIfAny } from "../api/messages.ts";
import { type Market, type Network, useMarkets, useNetworks } from "../api/queries.ts";
import { AssetAmount } from "../parts/AssetAmount.tsx";
import { PageLink } from "../parts/PageLink.tsx";
import classes from "./PlainPage.module.css";

type PaymentFee = Schemas["PaymentFeeResponse"];

/** The fees of a market on a phone, in two lines. */
const CARD = '"market least" "maker taker" / minmax(0, 1fr) auto';
const AREAS = {
  market: { name: "market" },
  maker: { name: "maker", isTitled: true },
  taker: { name: "taker", align: "right", isTitled: true },
  least: { name: "least", align: "right", isTitled: true },
} as const;

const MARKETS: readonly Column<Market>[] = [
  {
    id: "market",
    get title() {
      return t("Market");
    },
    cell: ({ symbol }) => <PageLink href={`/${symbol}`}>{symbol}</PageLink>,
  },
  {
    id: "maker",
    get title() {
      return t("Maker");
    },
    align: "right",
    cell: ({ makerFee }) => percentOfBps(makerFee),
  },
  {
    id: "taker",
    get title() {
      return t("Taker");
    },
    align: "right",
    cell: ({ takerFee }) => percentOfBps(takerFee),
  },
  {
    id: "least",
    get title() {
      return t("Smallest order");
    },
    align: "right",
    cell: ({ notionalMin, quoteAsset }) =>
      notionalMin === null ? t("none") : <AssetAmount value={notionalMin} asset={quoteAsset} />,
  },
];

const WITHDRAWALS: readonly Column<Network>[] = [
  {
    id: "asset",
    get title() {
      return t("Asset");
    },
    cell: ({ asset }) => <strong>{asset}</strong>,
  },
  {
    id: "network",
    get title() {
      return t("Network");
    },
    cell: ({ network }) => network,
  },
  {
    id: "fee",
    get title() {
      return t("Fee");
    },
    align: "right",
    cell: ({ fee, asset }) => <AssetAmount value={fee} asset={asset} />,
  },
  {
    id: "least",
    get title() {
      return t("Smallest withdrawal");
    },
    align: "right",
    cell: ({ minimum, asset }) => <AssetAmount value={minimum} asset={asset} />,
  },
];

const PAYMENTS: readonly Column<PaymentFee>[] = [
  {
    id: "way",
    get title() {
      return t("Payment");
    },
    cell: ({ routeId }) => routeId,
  },
  {
    id: "share",
    get title() {
      return t("Share");
    },
    align: "right",
    cell: ({ feeBps }) => percentOfBps(feeBps),
  },
  {
    id: "fixed",
    get title() {
      return t("Fixed");
    },
    align: "right",
    cell: ({ feeFixed, currency }) => <AssetAmount value={feeFixed} asset={currency} />,
  },
];

/** What everything costs, for everybody to read. */
export default function FeesPage() {
  const { rest } = useExchange();
  const markets = useMarkets();
  const networks = useNetworks();
  const payments = useQuery({
    queryKey: ["paymentFees"],
    queryFn: ({ signal }) => returned(rest.GET("/api/v1/fees/payment", { signal })),
    meta: { isPublic: true },
  });
  return (
    <div className={classes.page}>
      <PageHeader title={t("Fees")}>
        {t(
          "A maker's order waits in the book; a taker's order trades at once. Fees are taken in the quote asset, from each fill. Deposits by chain cost nothing here.",
        )}
      </PageHeader>
      <div className={classes.cards}>
        <Card flush title={t("Trading")}>
          <DataTable
            label={t("Trading fees")}
            columns={withAreas(MARKETS, AREAS)}
            card={CARD}
            rows={markets.data?.filter(({ active }) => active)}
            rowId={({ symbol }) => symbol}
            rowName={({ symbol }) => symbol}
            state={markets}
            problem={explainIfAny(markets.error)}
            isWhole
            empty={<EmptyState title={t("No markets")}>{t("This exchange has no market yet.")}</EmptyState>}
          />
        </Card>
        <Card flush title={t("Withdrawals")}>
          <DataTable
            label={t("Withdrawal fees")}
            columns={WITHDRAWALS}
            rows={networks.data}
            rowId={({ asset, network }) => `${asset} ${network}`}
            rowName={({ asset, network }) => t("{asset} by {network}", { asset, network })}
            state={networks}
            problem={explainIfAny(networks.error)}
            isWhole
            empty={<EmptyState title={t("No withdrawals")}>{t("Nothing can be withdrawn here.")}</EmptyState>}
          />
        </Card>
        <Card flush title={t("Payments")}>
          <DataTable
            label={t("Payment fees")}
            columns={PAYMENTS}
            rows={payments.data}
            rowId={({ routeId, currency }) => `${routeId} ${currency}`}
            rowName={({ routeId }) => routeId}
            state={payments}
            problem={explainIfAny(payments.error)}
            isWhole
            empty={<EmptyState title={t("No payments")}>{t("This exchange takes no payments.")}</EmptyState>}
          />
        </Card>
      </div>
    </div>
  );
}
