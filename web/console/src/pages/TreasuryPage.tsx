import { Button, Group, Stack, Tabs } from "@mantine/core";
import { ArrowSwitchIcon, BellIcon, ListUnorderedIcon, SignInIcon, XIcon } from "@primer/octicons-react";
import { useState } from "react";
import { Amount } from "#lib/components/Amount.tsx";
import { Badge } from "#lib/components/Badge.tsx";
import { Card } from "#lib/components/Card.tsx";
import { type Column, DataTable } from "#lib/components/DataTable.tsx";
import { PageHeader } from "#lib/components/PageHeader.tsx";
import { ShowOlder } from "#lib/components/ShowOlder.tsx";
import { EmptyState } from "#lib/components/states.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import { useUrlState } from "#lib/urlState.ts";
import { explainIfAny } from "../engine/messages.ts";
import { useCan } from "../operator/session.ts";
import { DayFilters, NO_DAYS } from "../parts/DayFilters.tsx";
import { DayFilter, FilterBar } from "../parts/filters.tsx";
import { FlowDialog } from "../parts/FlowDialog.tsx";
import { HouseFlows } from "../parts/HouseFlows.tsx";
import { AdjustmentBadge } from "../parts/PersonBadges.tsx";
import { SaveAsFile } from "../parts/SaveAsFile.tsx";
import { SavedViews } from "../parts/SavedViews.tsx";
import { LevelDialog, MoveDialog } from "../parts/TreasuryDialogs.tsx";
import {
  type HouseEntry,
  type HouseRow,
  type HouseTransfer,
  rowsOf,
  useHouseAccounts,
  useHouseEntries,
  useHouseTransfers,
} from "../people/treasury.ts";
import { daysOf, spanOf } from "../people/span.ts";
import classes from "./TreasuryPage.module.css";

const LACKS = "You lack the permission balances.transfer.";

function amount(value: string | null | undefined) {
  return value === null || value === undefined ? "–" : <Amount value={value} />;
}

const COLUMNS: readonly Column<HouseRow>[] = [
  {
    id: "account",
    title: "Account",
    cell: ({ account }) => (
      <>
        {account.account}
        <span className={classes.purpose}>{account.purpose}</span>
      </>
    ),
  },
  { id: "asset", title: "Asset", cell: ({ balance }) => balance?.asset ?? "nothing" },
  // Before the amounts, which are as wide as their eighteen places: what is asked for is seen without scrolling.
  { id: "level", title: "Level", align: "right", cell: ({ balance }) => amount(balance?.level) },
  { id: "engine", title: "Engine", align: "right", cell: ({ balance }) => amount(balance?.engineTotal) },
  {
    id: "available",
    title: "Available",
    align: "right",
    cell: ({ balance }) => amount(balance?.engineAvailable),
  },
  { id: "ledger", title: "Ledger", align: "right", cell: ({ balance }) => amount(balance?.ledgerTotal) },
  { id: "state", title: "State", isPinned: true, cell: ({ balance }) => <HouseState balance={balance} /> },
];

function HouseState({ balance }: { balance: HouseRow["balance"] }) {
  if (balance === null) return "–";
  if (balance.isLow)
    return (
      <Badge tone="negative" shape="✕">
        Below its level
      </Badge>
    );
  if (balance.isSettling)
    return (
      <Badge tone="neutral" shape="◐">
        Settling
      </Badge>
    );
  if (balance.difference !== null && balance.difference !== "0")
    return (
      <Badge tone="warning" shape="◐">
        Sides differ
      </Badge>
    );
  return (
    <Badge tone="positive" shape="●">
      Fine
    </Badge>
  );
}

const TRANSFER_COLUMNS: readonly Column<HouseTransfer>[] = [
  { id: "made", title: "Made", cell: (row) => <TimeText milliseconds={Date.parse(row.createdAt)} /> },
  { id: "from", title: "From", cell: (row) => row.from },
  { id: "to", title: "To", cell: (row) => row.to },
  {
    id: "amount",
    title: "Amount",
    align: "right",
    cell: (row) => <Amount value={row.amount} unit={row.asset} />,
  },
  { id: "reason", title: "Reason", cell: (row) => row.reason },
  { id: "by", title: "By", cell: (row) => row.requestedBy },
  { id: "approved", title: "Approved by", cell: (row) => row.approvedBy ?? "alone" },
  { id: "state", title: "State", cell: (row) => <AdjustmentBadge status={row.status} /> },
];

const ENTRY_COLUMNS: readonly Column<HouseEntry>[] = [
  { id: "at", title: "At", cell: (row) => <TimeText milliseconds={Date.parse(row.createdAt)} /> },
  {
    id: "amount",
    title: "Amount",
    align: "right",
    cell: (row) => <Amount value={row.amount} unit={row.asset} signed />,
  },
  { id: "after", title: "After it", align: "right", cell: (row) => <Amount value={row.balance} /> },
  { id: "kind", title: "Kind", cell: (row) => row.kind },
  { id: "reference", title: "Reference", cell: (row) => row.reference },
];

interface Asked {
  what: "move" | "flow" | "level";
  row: HouseRow;
}

const TABS = [
  ["transfers", "Transfers"],
  ["outside", "From and to outside"],
] as const;

/** The house's accounts: what each is for and has, its levels, what operators move between them, in and out. */
export function TreasuryPage() {
  const query = useHouseAccounts();
  const can = useCan();
  const [asked, setAsked] = useState<Asked | null>(null);
  const url = useUrlState();
  const shown = /^house:[a-z]{1,40}$/.exec(url.parameter("movements"))?.[0];
  const lacks = can("balances.transfer") ? undefined : LACKS;
  const close = () => setAsked(null);
  return (
    <>
      <PageHeader title="Treasury" actions={<SavedViews page="treasury" />}>
        The house&apos;s own accounts at engine and ledger, the levels that they should have, and what
        operators moved between them, from outside and to it. No user&apos;s money is moved here.
      </PageHeader>
      <Stack gap="md">
        <Card flush>
          <DataTable
            label="House accounts"
            columns={COLUMNS}
            rows={query.data && rowsOf(query.data)}
            rowId={({ account, balance }) => `${account.account} ${balance?.asset ?? ""}`}
            rowName={({ account, balance }) => `${account.account} ${balance?.asset ?? ""}`.trim()}
            state={query}
            problem={explainIfAny(query.error)}
            empty={<EmptyState title="No accounts">The house has no accounts.</EmptyState>}
            isWhole
            actions={(row) => {
              const closed = row.account.closedBecause;
              const disabledReason = closed === null ? lacks : `${row.account.account} ${closed}.`;
              return [
                {
                  label: "Move from here…",
                  icon: <ArrowSwitchIcon />,
                  disabledReason,
                  onClick: () => setAsked({ what: "move", row }),
                },
                {
                  label: "From or to outside…",
                  icon: <SignInIcon />,
                  disabledReason:
                    row.account.closedToOutsideBecause === null
                      ? lacks
                      : `${row.account.account} ${row.account.closedToOutsideBecause}.`,
                  onClick: () => setAsked({ what: "flow", row }),
                },
                {
                  label: "Set the level…",
                  icon: <BellIcon />,
                  disabledReason,
                  onClick: () => setAsked({ what: "level", row }),
                },
                {
                  label: "Show movements",
                  icon: <ListUnorderedIcon />,
                  onClick: () => url.change({ movements: row.account.account }),
                },
              ];
            }}
          />
        </Card>
        {shown && <Movements key={shown} account={shown} />}
        <Lists />
      </Stack>
      {asked?.what === "move" && <MoveDialog row={asked.row} accounts={query.data ?? []} onClose={close} />}
      {asked?.what === "flow" && <FlowDialog row={asked.row} onClose={close} />}
      {asked?.what === "level" && <LevelDialog row={asked.row} onClose={close} />}
    </>
  );
}

function Lists() {
  const url = useUrlState();
  const tab = TABS.find(([name]) => name === url.parameter("tab"))?.[0] ?? "transfers";
  return (
    <Tabs
      value={tab}
      keepMounted={false}
      onChange={(next) => url.change({ tab: next === "transfers" ? null : next, ...NO_DAYS })}
    >
      <Tabs.List mb="sm">
        {TABS.map(([name, title]) => (
          <Tabs.Tab key={name} value={name}>
            {title}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {tab === "transfers" ? <Transfers /> : <HouseFlows />}
    </Tabs>
  );
}

function Transfers() {
  const url = useUrlState();
  const span = spanOf(daysOf(url.parameter));
  const isFiltered = Object.keys(span).length > 0;
  const { query, rows } = useHouseTransfers(span);
  return (
    <Card
      title="Transfers"
      actions={
        <SaveAsFile
          path="treasury/transfers"
          name="house_transfers"
          needs="balances.export"
          given={{ ...span }}
        />
      }
      flush
    >
      <DataTable
        label="Transfers of the house"
        toolbar={
          <FilterBar isFiltered={isFiltered} onClear={() => url.change(NO_DAYS)}>
            <DayFilters url={url} />
          </FilterBar>
        }
        columns={TRANSFER_COLUMNS}
        rows={rows}
        rowId={({ id }) => id}
        rowName={(row) => `${row.amount} ${row.asset} from ${row.from}`}
        state={query}
        problem={explainIfAny(query.error)}
        empty={
          <EmptyState title={isFiltered ? "Nothing was moved then" : "Nothing was moved"}>
            What operators move between accounts of the house appears here; what waits for another person is
            among the approvals.
          </EmptyState>
        }
        footer={<ShowOlder query={query} />}
      />
    </Card>
  );
}

/** The changes of an address that clear the days of movements: the list below has days of its own. */
const NO_MOVEMENT_DAYS = { first: null, last: null } as const;

function Movements({ account }: { account: string }) {
  const url = useUrlState();
  const days = daysOf((name) => url.parameter(name === "from" ? "first" : "last"));
  const span = spanOf(days);
  const isFiltered = Object.keys(span).length > 0;
  const { query, rows } = useHouseEntries(account, span);
  return (
    <Card
      title={`Movements of ${account}`}
      actions={
        <Group gap="xs">
          <SaveAsFile
            path={`treasury/accounts/${account}/entries`}
            name="house_entries"
            needs="balances.export"
            given={{ ...span }}
            holds="with the references of what moved"
            label="Save the movements as a file"
          />
          <Button
            variant="subtle"
            color="gray"
            leftSection={<XIcon />}
            onClick={() => url.change({ movements: null, ...NO_MOVEMENT_DAYS })}
          >
            Hide
          </Button>
        </Group>
      }
      flush
    >
      <DataTable
        label={`Movements of ${account}`}
        toolbar={
          <FilterBar isFiltered={isFiltered} onClear={() => url.change(NO_MOVEMENT_DAYS)}>
            <DayFilter
              label="First day"
              shown="From"
              value={days.from}
              onChange={(first) => url.change({ first })}
            />
            <DayFilter
              label="Last day"
              shown="To"
              value={days.to}
              onChange={(last) => url.change({ last })}
            />
          </FilterBar>
        }
        columns={ENTRY_COLUMNS}
        rows={rows}
        rowId={({ id }) => id}
        rowName={(row) => `${row.amount} ${row.asset}`}
        state={query}
        problem={explainIfAny(query.error)}
        empty={
          <EmptyState title={isFiltered ? "Nothing moved then" : "No movements"}>
            Nothing moved here without a trade. What trades moved is in the ledger.
          </EmptyState>
        }
        footer={<ShowOlder query={query} />}
      />
    </Card>
  );
}
