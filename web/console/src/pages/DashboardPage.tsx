import { SimpleGrid, Skeleton, Stack, Title } from "@mantine/core";
import { type ReactNode, useMemo } from "react";
import { Link } from "wouter";
import type { GetExchangeStatsResponse, MatchingStats, SystemStats } from "#gen/exchange/v1/admin_pb.ts";
import { Amount } from "#lib/components/Amount.tsx";
import { Card } from "#lib/components/Card.tsx";
import { CopyText } from "#lib/components/CopyText.tsx";
import { type Column, DataTable } from "#lib/components/DataTable.tsx";
import { PageHeader } from "#lib/components/PageHeader.tsx";
import { EmptyState, ErrorState, WarningNote } from "#lib/components/states.tsx";
import { TimeSeries } from "#lib/components/TimeSeries.tsx";
import { formatBytes, formatCount, formatDuration, formatRate, plural } from "#lib/counts.ts";
import { compareDecimals } from "#lib/decimal.ts";
import { ratesOf } from "#lib/series.ts";
import { useNow } from "#lib/useNow.ts";
import { arrange, useUrlState } from "#lib/urlState.ts";
import {
  HISTORY_SPAN_MS,
  type StatsSample,
  useMarketPlaces,
  useStats,
  useStatsHistory,
} from "../engine/queries.ts";
import { explain, explainIfAny } from "../engine/messages.ts";
import classes from "./DashboardPage.module.css";

export function DashboardPage() {
  const query = useStats();
  const stats = query.data;
  if (!stats && query.error) {
    return (
      <>
        <PageHeader title="Dashboard" />
        <Card>
          <ErrorState problem={explain(query.error)} onRetry={() => void query.refetch()} />
        </Card>
      </>
    );
  }
  return (
    <>
      <PageHeader title="Dashboard">What the engine does now, read every two seconds.</PageHeader>
      <Stack gap="md">
        {query.error && (
          <WarningNote>
            {explain(query.error).title}: the figures are old. {explain(query.error).advice}
          </WarningNote>
        )}
        <Tiles stats={stats} />
        <Graphs />
        <div className={classes.split}>
          <Markets stats={stats} query={query} />
          <EngineFacts matching={stats?.matching} system={stats?.system} />
        </div>
      </Stack>
    </>
  );
}

function Tiles({ stats }: { stats: GetExchangeStatsResponse | undefined }) {
  const { orders, trades, participants, matching } = stats ?? {};
  const tiles: { title: string; href: string; value: ReactNode; note: ReactNode }[] = [
    {
      title: "Open orders",
      href: "/orders?status=OPEN",
      value: orders && formatCount(orders.open),
      note: orders && `${formatCount(orders.placed)} placed in all`,
    },
    {
      title: "Trades",
      href: "/trades",
      value: trades && formatCount(trades.count),
      note: trades && `in ${plural(Object.keys(trades.volumeBySymbol).length, "symbol")}`,
    },
    {
      title: "Cancelled",
      href: "/orders?status=CANCELLED",
      value: orders && formatCount(orders.cancelled),
      note: "before they were filled",
    },
    {
      title: "Rejected",
      href: "/orders?status=REJECTED",
      value: orders && formatCount(orders.rejected),
      note: "by the engine",
    },
    {
      title: "Participants",
      href: "/participants",
      value: participants && formatCount(participants.total),
      note: participants && `${formatCount(participants.active)} active`,
    },
    {
      title: "Symbols",
      href: "/symbols",
      value: matching && formatCount(matching.symbols),
      note: "active and inactive",
    },
  ];
  return (
    <SimpleGrid cols={{ base: 2, sm: 3, xl: 6 }} spacing="sm">
      {tiles.map(({ title, href, value, note }) => (
        <Link key={title} href={href} className={classes.tile}>
          <span className={classes.tileTitle}>{title}</span>
          <span className={`figures ${classes.tileValue ?? ""}`}>
            {value ?? <Skeleton height={24} width={72} my={4} />}
          </span>
          <span className={classes.tileNote}>{note ?? " "}</span>
        </Link>
      ))}
    </SimpleGrid>
  );
}

/** The shortest span of a graph that shows everything: a young history is not squeezed into a corner. */
function spanFor(age: number): number {
  return [1, 2, 5].map((minutes) => minutes * 60_000).find((span) => age <= span) ?? HISTORY_SPAN_MS;
}

const wholeNumber = (value: number) => formatCount(Math.round(value));

function Graphs() {
  const samples = useStatsHistory();
  // Steps of two seconds: the graph moves when a sample arrives, and while none does.
  const now = useNow(2000);
  const until = Math.max(now, samples.at(-1)?.at ?? 0);
  const series = useMemo(() => {
    const gauge = (read: (sample: StatsSample) => bigint | undefined) =>
      samples.map((sample) => ({ at: sample.at, value: Number(read(sample) ?? 0n) }));
    return {
      placed: ratesOf(samples, ({ stats }) => stats.orders?.placed ?? 0n),
      trades: ratesOf(samples, ({ stats }) => stats.trades?.count ?? 0n),
      open: gauge(({ stats }) => stats.orders?.open),
      queue: gauge(({ stats }) => stats.system?.queueDepth),
    };
  }, [samples]);
  const span = spanFor(until - (samples[0]?.at ?? until));
  const common = { span, until };
  return (
    <section aria-label={`Last ${formatDuration(span)}`}>
      <SimpleGrid cols={{ base: 1, md: 2, xl: 4 }} spacing="sm">
        <TimeSeries
          {...common}
          title="Orders placed"
          unit="per second"
          points={series.placed}
          format={formatRate}
        />
        <TimeSeries {...common} title="Trades" unit="per second" points={series.trades} format={formatRate} />
        <TimeSeries {...common} title="Open orders" unit="orders" points={series.open} format={wholeNumber} />
        <TimeSeries
          {...common}
          title="Queue depth"
          unit="commands"
          points={series.queue}
          format={wholeNumber}
        />
      </SimpleGrid>
    </section>
  );
}

interface Market {
  symbol: string;
  volume: string;
  notional: string;
}

function Markets({
  stats,
  query,
}: {
  stats: GetExchangeStatsResponse | undefined;
  query: ReturnType<typeof useStats>;
}) {
  const url = useUrlState();
  const placesOf = useMarketPlaces();
  const columns: Column<Market>[] = [
    {
      id: "symbol",
      title: "Symbol",
      cell: (row) => <strong>{row.symbol}</strong>,
      compare: (a, b) => a.symbol.localeCompare(b.symbol, "en"),
    },
    {
      id: "volume",
      title: "Volume",
      align: "right",
      cell: (row) => (
        <Amount value={row.volume} unit={row.symbol.split("-")[0]} places={placesOf(row.symbol).quantity} />
      ),
    },
    {
      id: "notional",
      title: "Notional",
      align: "right",
      cell: (row) => <Amount value={row.notional} unit={row.symbol.split("-")[1]} places={2} placesMax={8} />,
      compare: (a, b) => compareDecimals(a.notional, b.notional),
    },
  ];
  const rows =
    stats &&
    Object.entries(stats.trades?.volumeBySymbol ?? {}).map(([symbol, volume]) => ({
      symbol,
      volume,
      notional: stats.trades?.notionalBySymbol[symbol] ?? "0",
    }));
  const compare = columns.find(({ id }) => id === url.sort?.column)?.compare;
  return (
    <Card flush>
      <DataTable
        label="Traded by symbol"
        toolbar={<Title order={2}>Traded since the journal began</Title>}
        columns={columns}
        rows={rows && arrange(rows, compare, url.sort?.descending ?? false, { index: 0, size: rows.length })}
        rowId={(row) => row.symbol}
        rowName={(row) => row.symbol}
        state={query}
        problem={explainIfAny(query.error)}
        sort={url.sort}
        onSort={url.toggleSort}
        empty={<EmptyState title="Nothing traded yet">Volume appears with the first trade.</EmptyState>}
      />
    </Card>
  );
}

function EngineFacts({
  matching,
  system,
}: {
  matching: MatchingStats | undefined;
  system: SystemStats | undefined;
}) {
  const facts: [string, ReactNode][] = [
    ["Core", matching?.core],
    ["Version", system?.version],
    ["Running for", system && formatDuration(Number(system.uptimeMs))],
    ["Commands", matching && formatCount(matching.commands)],
    ["Events", matching && formatCount(matching.events)],
    ["Journal", system && formatBytes(system.journalBytes)],
    ["Memory", system && formatBytes(system.memoryBytes)],
    [
      "State hash",
      matching && (
        <CopyText text={matching.stateHash} name="state hash">
          <code>{matching.stateHash.slice(0, 12)}…</code>
        </CopyText>
      ),
    ],
    ["Hash taken at command", matching && formatCount(matching.stateHashCommands)],
  ];
  return (
    <Card title="Matching engine">
      <dl className={classes.facts}>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd className="figures">{value ?? <Skeleton height={12} width={80} />}</dd>
          </div>
        ))}
      </dl>
    </Card>
  );
}
