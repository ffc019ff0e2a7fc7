import { Button } from "@mantine/core";
import {
  CalendarIcon,
  ClockIcon,
  GiftIcon,
  HistoryIcon,
  MeterIcon,
  PencilIcon,
  PlusIcon,
  StopIcon,
  XCircleIcon,
} from "@primer/octicons-react";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import { Amount } from "#lib/components/Amount.tsx";
import { Card } from "#lib/components/Card.tsx";
import { type Column, DataTable } from "#lib/components/DataTable.tsx";
import { PageHeader } from "#lib/components/PageHeader.tsx";
import { EmptyState } from "#lib/components/states.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import { formatCount } from "#lib/counts.ts";
import { arrange, useUrlState } from "#lib/urlState.ts";
import { phaseTitle } from "../engine/markets.ts";
import { explainIfAny } from "../engine/messages.ts";
import {
  canDelist,
  type MarketListing,
  type MarketTerms,
  STATUSES,
  useListings,
} from "../operator/listings.ts";
import { useCan } from "../operator/session.ts";
import { CancelMarketOrdersDialog } from "../parts/CancelMarketOrdersDialog.tsx";
import { DelistingDialog, ListingChangeDialog, OpeningDialog } from "../parts/ListingDialogs.tsx";
import { MarketPhaseDialog } from "../parts/MarketPhaseDialog.tsx";
import { MarketStatusBadge } from "../parts/MarketStatusBadge.tsx";
import { MarketTimesDialog } from "../parts/MarketTimesDialog.tsx";
import { OffersDialog } from "../parts/OffersDialog.tsx";

const COLUMNS: readonly Column<MarketListing>[] = [
  {
    id: "symbol",
    title: "Market",
    cell: (row) => <strong>{row.symbol}</strong>,
    compare: (a, b) => a.symbol.localeCompare(b.symbol, "en"),
  },
  { id: "name", title: "Name", cell: ({ terms }) => (terms && terms.name !== "" ? terms.name : "–") },
  {
    id: "status",
    title: "Status",
    cell: ({ terms }) =>
      terms ? <MarketStatusBadge status={terms.status} /> : "not listed: nobody can trade it",
  },
  { id: "phase", title: "Phase", cell: (row) => <PresentPhase market={row} /> },
  {
    id: "offers",
    title: "Offers",
    cell: ({ terms }) => (terms?.offers?.length ? terms.offers.join(", ") : "–"),
  },
  { id: "next", title: "Follows", cell: ({ terms }) => <Next terms={terms} /> },
  {
    id: "fees",
    title: "Taker and maker fee",
    align: "right",
    cell: ({ takerFee, makerFee }) => (
      <span className="figures">
        {formatCount(takerFee)} and {formatCount(makerFee)} bps
      </span>
    ),
  },
  {
    id: "quantity",
    title: "Largest quantity",
    align: "right",
    cell: ({ terms, baseCurrency }) =>
      terms ? <Amount value={terms.quantityMax} unit={baseCurrency} /> : "–",
  },
  {
    id: "notional",
    title: "Largest notional",
    align: "right",
    cell: ({ terms, quoteCurrency }) =>
      terms ? <Amount value={terms.notionalMax} unit={quoteCurrency} /> : "–",
  },
];

function Next({ terms }: { terms: MarketTerms | null }) {
  const next = terms?.schedule[0];
  if (!next) return "–";
  return (
    <>
      {STATUSES[next.status].title} <TimeText milliseconds={next.at} />
    </>
  );
}

function PresentPhase({ market: { active, phase, phaseCause, phaseEndsAt } }: { market: MarketListing }) {
  // A market that takes no order has no phase to speak of, unless one was set.
  if (!active && phase === "continuous") return "–";
  return (
    <>
      {phaseTitle(phase, phaseCause)}
      {phaseEndsAt > 0 && (
        <>
          {" until "}
          <TimeText milliseconds={phaseEndsAt} />
        </>
      )}
    </>
  );
}

interface Asked {
  kind: "change" | "times" | "offers" | "open" | "cancel" | "delist";
  market: MarketListing;
  terms: MarketTerms;
}

const DIALOGS = {
  change: ListingChangeDialog,
  times: MarketTimesDialog,
  offers: OffersDialog,
  open: OpeningDialog,
  cancel: CancelMarketOrdersDialog,
  delist: DelistingDialog,
};

/** The markets with their listing: list one, change it, open it, delist it. */
export function ListingsPage() {
  const url = useUrlState();
  const query = useListings();
  const can = useCan();
  const [, navigate] = useLocation();
  const [asked, setAsked] = useState<Asked | null>(null);
  const [phased, setPhased] = useState<MarketListing | null>(null);
  const compare = COLUMNS.find(({ id }) => id === url.sort?.column)?.compare;
  const everything = { index: 0, size: query.data?.length ?? 0 };
  const Dialog = asked && DIALOGS[asked.kind];
  return (
    <>
      <PageHeader
        title="Listings"
        actions={
          can("symbols.create") && (
            <Button component={Link} href="/listings/new" leftSection={<PlusIcon />}>
              List a market
            </Button>
          )
        }
      >
        Every market from its announcement to its delisting. All services follow a change within a second.
      </PageHeader>
      <Card flush>
        <DataTable
          label="Markets"
          columns={COLUMNS}
          rows={query.data && arrange(query.data, compare, url.sort?.descending ?? false, everything)}
          rowId={(row) => row.symbol}
          rowName={(row) => row.symbol}
          state={query}
          problem={explainIfAny(query.error)}
          sort={url.sort}
          onSort={url.toggleSort}
          empty={<EmptyState title="No markets yet">List the first one.</EmptyState>}
          actions={(market) => {
            const { terms } = market;
            const ask = (kind: Asked["kind"]) => () => {
              if (terms) setAsked({ kind, market, terms });
            };
            const lacks = (permission: Parameters<typeof can>[0]) =>
              can(permission) ? undefined : `It needs the permission ${permission}.`;
            const without = (permission: Parameters<typeof can>[0]) =>
              terms === null
                ? "The symbol was created alone. List it first: it has no bounds yet."
                : lacks(permission);
            const isLast = terms !== null && STATUSES[terms.status].following.length === 0;
            return [
              ...(terms === null
                ? [
                    {
                      label: "List it…",
                      icon: <PlusIcon />,
                      disabledReason: lacks("symbols.create"),
                      onClick: () => navigate(`/listings/new?symbol=${encodeURIComponent(market.symbol)}`),
                    },
                  ]
                : []),
              {
                label: "Change…",
                icon: <PencilIcon />,
                disabledReason: without("symbols.update"),
                onClick: ask("change"),
              },
              {
                label: "Change times…",
                icon: <CalendarIcon />,
                disabledReason:
                  without("symbols.update") ??
                  (terms && !canDelist(terms.status) ? "It is delisted. No time can follow." : undefined),
                onClick: ask("times"),
              },
              {
                label: "Change offers…",
                icon: <GiftIcon />,
                disabledReason:
                  without("symbols.update") ??
                  (terms && !canDelist(terms.status) ? "It is delisted, and offers nothing." : undefined),
                onClick: ask("offers"),
              },
              {
                label: "Change status…",
                icon: <ClockIcon />,
                disabledReason:
                  without("symbols.set_phase") ??
                  (isLast ? "No other status can follow. To halt it, set its phase." : undefined),
                onClick: ask("open"),
              },
              {
                label: "Set phase…",
                icon: <MeterIcon />,
                disabledReason: lacks("symbols.set_phase"),
                onClick: () => setPhased(market),
              },
              {
                label: "Show history",
                icon: <HistoryIcon />,
                onClick: () => navigate(`/listings/${market.symbol}`),
              },
              {
                label: "Cancel all orders…",
                icon: <StopIcon />,
                danger: true,
                disabledReason: without("orders.cancel_all"),
                onClick: ask("cancel"),
              },
              {
                label: "Delist…",
                icon: <XCircleIcon />,
                danger: true,
                disabledReason:
                  without("symbols.deactivate") ??
                  (terms && !canDelist(terms.status) ? "It is delisted already." : undefined),
                onClick: ask("delist"),
              },
            ];
          }}
        />
      </Card>
      {phased && <MarketPhaseDialog market={phased} onClose={() => setPhased(null)} />}
      {asked && Dialog && <Dialog market={asked.market} terms={asked.terms} onClose={() => setAsked(null)} />}
    </>
  );
}
