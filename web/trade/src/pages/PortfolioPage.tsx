import { SegmentedControl, Skeleton } from "@mantine/core";
import { Amount } from "#lib/components/Amount.tsx";
import { Card } from "#lib/components/Card.tsx";
import { type Column, DataTable, withAreas } from "#lib/components/DataTable.tsx";
import { PageHeader } from "#lib/components/PageHeader.tsx";
import { EmptyState, ErrorState } from "#lib/components/states.tsx";
import { TimeSeries } from "#lib/components/TimeSeries.tsx";
import { formatDecimal } from "#lib/decimal.ts";
import { rich, t } from "#lib/language.ts";
import { floorTo, scaledText, shareOfScaled } from "#lib/scaled.ts";
import { withDecimalSign } from "#lib/separators.ts";
import { formatTime } from "#lib/time.ts";
import { useUrlState } from "#lib/urlState.ts";
import { canvasValue } from "../market/candles.ts";
import { explain, explainIfAny } from "../api/messages.ts";
import { PageLink } from "../parts/PageLink.tsx";
import { FundsNavigation } from "../parts/FundsNavigation.tsx";
import { dollars, percentsOf, withPresent } from "../portfolio/portfolio.ts";
import {
  type PortfolioInterval,
  type PortfolioPoint,
  type PortfolioReturn,
  type ReturnPeriod,
  usePortfolioHistory,
  usePortfolioReturn,
} from "../portfolio/queries.ts";
import { MovementList, ReturnCard } from "../portfolio/ReturnCard.tsx";
import type { Holding, Valuation } from "../portfolio/valuation.ts";
import classes from "./PortfolioPage.module.css";
import { UNIT, useWorth, WorthCard } from "./Worth.tsx";
import { AssetAmount } from "../parts/AssetAmount.tsx";

const CENT = 10n ** 16n;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Short enough for the margin of the graph: "10K". */
const TICK = new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 2 });

interface Period {
  value: string;
  label: string;
  period: ReturnPeriod;
  interval: PortfolioInterval;
  /** Null for the time since the first movement. */
  span: number | null;
  /** Where the time of a point begins and ends in "22 Nov 2026 09:05:03". */
  time: readonly [begin: number, end?: number];
}

const MONTH: Period = {
  value: "30d",
  period: "month",
  get label() {
    return t("30 days");
  },
  interval: "1d",
  span: 30 * DAY,
  time: [0, 6],
};
const PERIODS: readonly Period[] = [
  {
    value: "24h",
    period: "day",
    get label() {
      return t("24 hours");
    },
    interval: "1h",
    span: DAY,
    time: [-8, -3],
  },
  {
    value: "7d",
    period: "week",
    get label() {
      return t("7 days");
    },
    interval: "1h",
    span: 7 * DAY,
    time: [0, -3],
  },
  MONTH,
  {
    value: "1y",
    period: "year",
    get label() {
      return t("1 year");
    },
    interval: "1w",
    span: 364 * DAY,
    time: [0, 11],
  },
  {
    value: "all",
    period: "all",
    get label() {
      return t("All time");
    },
    interval: "1w",
    span: null,
    time: [0, 11],
  },
];
type Span = readonly [interval: PortfolioInterval, span: number];
const WEEKS: Span = ["1w", 366 * 7 * DAY - DAY];
/** The longest spans that points of an hour, a day and a week are drawn over: the exchange gives at most 366 points. */
const SPANS: readonly Span[] = [["1h", 14 * DAY], ["1d", 365 * DAY], WEEKS];

/** Points and length of a period's graph; the length is null while its begin is not known. */
function graphOf(period: Period, found: PortfolioReturn | undefined) {
  if (period.span !== null) return { interval: period.interval, span: period.span };
  if (!found) return { interval: period.interval, span: null };
  // A begin in the middle of an hour has a point before it, so that the graph begins with nothing.
  const length = Math.max(found.endsAt - found.beginsAt, HOUR) + HOUR;
  const [interval, longest] = SPANS.find(([, span]) => length <= span) ?? WEEKS;
  return { interval, span: Math.min(length, longest) };
}

/** What the funds are worth, how that changed, and the share of each asset. */
export default function PortfolioPage() {
  const { parameter, change } = useUrlState();
  const period = PERIODS.find(({ value }) => value === parameter("period")) ?? MONTH;
  const found = usePortfolioReturn(period.period);
  const { interval, span } = graphOf(period, found.data);
  const history = usePortfolioHistory(period.period, interval, span);
  const worth = useWorth();
  const { balances, prices, wallet, symbols } = worth;
  const isKnown = balances.data !== undefined && prices.data !== undefined;
  const points = history.data && (isKnown ? withPresent(history.data, wallet) : history.data);
  const held = wallet.holdings.filter(({ value }) => value !== 0n);
  return (
    <div className={classes.page}>
      <div>
        <PageHeader title={t("Portfolio")}>
          {t("What your funds are worth, and how that came about.")}
        </PageHeader>
        <FundsNavigation />
      </div>
      <div className={classes.top}>
        <div className={classes.figures}>
          <WorthCard worth={worth} />
          <ReturnCard query={found} label={period.label} present={isKnown ? wallet.total : null} />
        </div>
        <div className={classes.history}>
          <SegmentedControl
            size="xs"
            aria-label={t("Period")}
            data={PERIODS.map(({ value, label }) => ({ value, label }))}
            value={period.value}
            onChange={(value) => change({ period: value === MONTH.value ? null : value })}
          />
          {history.error && !points ? (
            <ErrorState problem={explain(history.error)} onRetry={() => void history.refetch()} />
          ) : points ? (
            <Value points={points} period={period} span={span} movements={found.data?.movements ?? []} />
          ) : (
            <Skeleton height={200} role="progressbar" aria-label={t("Loading the history")} />
          )}
        </div>
      </div>
      <Card flush title={t("By asset")}>
        <DataTable
          label={t("Assets")}
          columns={withAreas(columnsOf(wallet, symbols), AREAS)}
          card={CARD}
          rows={balances.data ? held : undefined}
          rowId={({ balance }) => balance.asset}
          rowName={({ balance }) => balance.asset}
          state={balances}
          problem={explainIfAny(balances.error)}
          empty={
            <EmptyState title={t("Nothing to show yet")}>
              {rich("With your first deposit the shares of your assets appear here. {link}", {
                link: <PageLink href="/wallet">{t("Go to the wallet")}</PageLink>,
              })}
            </EmptyState>
          }
        />
      </Card>
      <MovementList query={found} />
    </div>
  );
}

function Value({
  points,
  period,
  span,
  movements,
}: {
  points: readonly PortfolioPoint[];
  period: Period;
  span: number | null;
  movements: PortfolioReturn["movements"];
}) {
  const texts = new Map(points.map(({ value }) => [canvasValue(value), value]));
  return (
    <TimeSeries
      title={t("Value of the wallet")}
      unit={UNIT}
      points={points.map(({ timestamp, value }) => ({ at: timestamp, value: canvasValue(value) }))}
      span={span ?? DAY}
      until={points.at(-1)?.timestamp ?? 0}
      marks={movements.map(({ timestamp, amount }) => ({ at: timestamp, isIn: !amount.startsWith("-") }))}
      // A point is written from its exact text.
      format={(value) => dollars(texts.get(value) ?? "0")}
      formatTick={(value) => withDecimalSign(TICK.format(value))}
      formatAt={(at, zone) => formatTime(at, zone).slice(...period.time)}
    />
  );
}

/** An asset on a phone, in two lines. */
const CARD = '"asset value" "amount share" / minmax(0, 1fr) auto';
const AREAS = {
  asset: { name: "asset" },
  amount: { name: "amount" },
  value: { name: "value", align: "right" },
  share: { name: "share", align: "right" },
} as const;

function columnsOf(wallet: Valuation, symbols: readonly string[]): Column<Holding>[] {
  const percents = percentsOf(wallet);
  const percentOf = new Map(wallet.holdings.map((holding, index) => [holding, percents[index] ?? "0"]));
  return [
    {
      id: "asset",
      title: t("Asset"),
      cell: ({ balance: { asset } }) => {
        const symbol = `${asset}-${UNIT}`;
        return symbols.includes(symbol) ? (
          <PageLink href={`/${symbol}`}>{asset}</PageLink>
        ) : (
          <strong>{asset}</strong>
        );
      },
    },
    {
      id: "amount",
      title: t("Amount"),
      align: "right",
      cell: ({ balance }) => <AssetAmount value={balance.total} asset={balance.asset} />,
    },
    {
      id: "value",
      title: t("Value"),
      align: "right",
      cell: ({ value }) =>
        value === null ? (
          t("no price")
        ) : (
          <Amount value={scaledText(floorTo(value, CENT))} unit={UNIT} places={2} />
        ),
    },
    {
      id: "share",
      title: t("Share"),
      align: "right",
      cell: (holding) => (
        <span className={classes.share}>
          <span className={classes.track} aria-hidden>
            <span style={{ width: `${shareOfScaled(holding.value ?? 0n, wallet.total) * 100}%` }} />
          </span>
          <span className={`figures ${classes.percent ?? ""}`}>
            {formatDecimal(percentOf.get(holding) ?? "0", 2)} %
          </span>
        </span>
      ),
    },
  ];
}
