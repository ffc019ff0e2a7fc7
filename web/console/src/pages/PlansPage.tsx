import { Tabs } from "@mantine/core";
import { PersonIcon, XCircleIcon } from "@primer/octicons-react";
import { useState } from "react";
import { useLocation } from "wouter";
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
import { returned } from "../operator/client.ts";
import { useCan } from "../operator/session.ts";
import { DayFilters, NO_DAYS } from "../parts/DayFilters.tsx";
import { ChoiceFilter, FilterBar, TextFilter } from "../parts/filters.tsx";
import { ReasonDialog } from "../parts/ReasonDialog.tsx";
import { SaveAsFile } from "../parts/SaveAsFile.tsx";
import { SavedViews } from "../parts/SavedViews.tsx";
import { UserLink } from "../parts/UserLink.tsx";
import {
  PAYMENT_STATES,
  type Plan,
  type PlanPayment,
  type Subscription,
  SUBSCRIPTION_STATES,
  usePlanPayments,
  usePlans,
  useSubscriptions,
} from "../people/plans.ts";
import { daysOf, spanOf } from "../people/span.ts";

const NOTHING_FITS = "Nothing fits the filters.";
const NOTHING_YET = "There is nothing yet.";

const TABS = [
  ["subscriptions", "Subscriptions"],
  ["payments", "Payments"],
  ["plans", "Plans"],
] as const;

/** Plans, who has which, and how they were paid. */
export function PlansPage() {
  const url = useUrlState();
  const tab = TABS.find(([name]) => name === url.parameter("tab"))?.[0] ?? "subscriptions";
  return (
    <>
      <PageHeader title="Plans" actions={<SavedViews page="plans" />}>
        Who has which plan, and how it was paid. Prices and limits are in the file of the subscription
        service.
      </PageHeader>
      <Tabs
        value={tab}
        keepMounted={false}
        onChange={(next) =>
          url.change({ tab: next === "subscriptions" ? null : next, plan: null, state: null, ...NO_DAYS })
        }
      >
        <Tabs.List mb="sm">
          {TABS.map(([name, title]) => (
            <Tabs.Tab key={name} value={name}>
              {title}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Card flush>
          {tab === "subscriptions" && <Subscriptions />}
          {tab === "payments" && <Payments />}
          {tab === "plans" && <Plans />}
        </Card>
      </Tabs>
    </>
  );
}

const SUBSCRIPTIONS: readonly Column<Subscription>[] = [
  { id: "begun", title: "Began", cell: (row) => <TimeText milliseconds={Date.parse(row.createdAt)} /> },
  { id: "user", title: "User", cell: (row) => <UserLink id={row.userId} /> },
  { id: "plan", title: "Plan", cell: (row) => row.planId },
  { id: "state", title: "State", cell: (row) => <State subscription={row} /> },
  {
    id: "price",
    title: "Price",
    align: "right",
    cell: (row) => <Amount value={row.price} unit={row.asset} />,
  },
  { id: "paid", title: "Paid until", cell: (row) => row.periodEnd },
  { id: "next", title: "Next charge", cell: (row) => row.nextChargeOn ?? "–" },
  { id: "access", title: "Access until", cell: (row) => row.accessUntil ?? "–" },
];

function State({ subscription: { status, cancelAtPeriodEnd, attempts } }: { subscription: Subscription }) {
  if (status === "past_due") {
    return (
      <Badge tone="negative" shape="▲">
        {attempts === 0 ? "Past due" : `Past due, failed ${attempts} of its charges`}
      </Badge>
    );
  }
  if (status === "expired") {
    return (
      <Badge tone="neutral" shape="○">
        Expired
      </Badge>
    );
  }
  return (
    <Badge tone={cancelAtPeriodEnd ? "warning" : "positive"} shape={cancelAtPeriodEnd ? "◐" : "✓"}>
      {cancelAtPeriodEnd ? "Ends with its period" : "Active"}
    </Badge>
  );
}

function cancelFault({ status, cancelAtPeriodEnd }: Subscription, may: boolean): string | undefined {
  if (!may) return "This needs the permission plans.change.";
  if (status === "expired") return "It has ended.";
  return cancelAtPeriodEnd ? "It is to end already." : undefined;
}

function Subscriptions() {
  const url = useUrlState();
  const can = useCan();
  const plans = usePlans();
  const [, navigate] = useLocation();
  const [ended, setEnded] = useState<Subscription | null>(null);
  const userId = url.parameter("user");
  const planId = url.parameter("plan");
  const status = SUBSCRIPTION_STATES.find(({ value }) => value === url.parameter("state"))?.value;
  const given = {
    ...(userId === "" ? {} : { userId }),
    ...(planId === "" ? {} : { planId }),
    ...(status === undefined ? {} : { status }),
    ...spanOf(daysOf(url.parameter)),
  };
  const { query, rows } = useSubscriptions(given);
  const isFiltered = Object.keys(given).length > 0;
  return (
    <>
      <DataTable
        label="Subscriptions"
        toolbar={
          <FilterBar
            isFiltered={isFiltered}
            onClear={() => url.change({ user: null, plan: null, state: null, ...NO_DAYS })}
          >
            <TextFilter label="User id" value={userId} onChange={(user) => url.change({ user })} />
            <ChoiceFilter
              label="Plan"
              any="Any plan"
              value={planId}
              choices={(plans.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
              onChange={(plan) => url.change({ plan })}
            />
            <ChoiceFilter
              label="State"
              any="Any state"
              value={status ?? ""}
              choices={SUBSCRIPTION_STATES}
              onChange={(state) => url.change({ state })}
            />
            <DayFilters url={url} />
            <SaveAsFile path="subscriptions" name="subscriptions" needs="payments.export" given={given} />
          </FilterBar>
        }
        columns={SUBSCRIPTIONS}
        rows={rows}
        rowId={({ id }) => id}
        rowName={({ planId: plan, userId: user }) => `${plan} of ${user}`}
        state={query}
        problem={explainIfAny(query.error)}
        empty={<EmptyState title="No subscriptions">{isFiltered ? NOTHING_FITS : NOTHING_YET}</EmptyState>}
        actions={(row) => [
          {
            label: "Open user",
            icon: <PersonIcon />,
            onClick: () => navigate(`/users/${encodeURIComponent(row.userId)}`),
          },
          {
            label: "End the subscription…",
            icon: <XCircleIcon />,
            danger: true,
            disabledReason: cancelFault(row, can("plans.change")),
            onClick: () => setEnded(row),
          },
        ]}
        footer={<ShowOlder query={query} />}
      />
      {ended && <EndDialog subscription={ended} onClose={() => setEnded(null)} />}
    </>
  );
}

/** End a subscription, as its user could. */
function EndDialog({ subscription, onClose }: { subscription: Subscription; onClose: () => void }) {
  const { userId, planId, periodEnd, status } = subscription;
  return (
    <ReasonDialog
      title="End the subscription?"
      confirm="End the subscription"
      danger
      act={({ rest }, reason) =>
        returned(
          rest.POST("/api/v1/operator/users/{userId}/subscription/cancellation", {
            params: { path: { userId } },
            body: { reason },
          }),
        )
      }
      done={(now) => [
        now.status === "expired" ? "It has ended" : `It ends on ${now.periodEnd}`,
        `${planId} of ${userId}`,
      ]}
      onClose={onClose}
    >
      <p>
        {status === "past_due"
          ? "It is past due, so it ends at once. Credit that is left is paid back."
          : `The user keeps the plan until ${periodEnd}, and is charged no more. Nothing is paid back.`}
      </p>
    </ReasonDialog>
  );
}

const amountOf = (value: string | null, asset: string) =>
  value === null ? "–" : <Amount value={value} unit={asset} />;
const PAYMENTS: readonly Column<PlanPayment>[] = [
  { id: "at", title: "Charged", cell: (row) => <TimeText milliseconds={Date.parse(row.createdAt)} /> },
  { id: "user", title: "User", cell: (row) => <UserLink id={row.userId} /> },
  { id: "plan", title: "Plan", cell: (row) => row.planId },
  { id: "kind", title: "For", cell: (row) => `${row.kind}, ${row.periodStart} to ${row.periodEnd}` },
  { id: "amount", title: "Amount", align: "right", cell: (row) => amountOf(row.amount, row.asset) },
  { id: "credit", title: "From credit", align: "right", cell: (row) => amountOf(row.credit, row.asset) },
  {
    id: "state",
    title: "State",
    cell: ({ status }) => (
      <Badge
        tone={status === "completed" ? "positive" : "negative"}
        shape={status === "completed" ? "✓" : "✕"}
      >
        {status === "completed" ? "Paid" : "Failed"}
      </Badge>
    ),
  },
  { id: "reason", title: "Reason", cell: (row) => row.reason ?? "–" },
];

function Payments() {
  const url = useUrlState();
  const userId = url.parameter("user");
  const status = PAYMENT_STATES.find(({ value }) => value === url.parameter("state"))?.value;
  const given = {
    ...(userId === "" ? {} : { userId }),
    ...(status === undefined ? {} : { status }),
    ...spanOf(daysOf(url.parameter)),
  };
  const { query, rows } = usePlanPayments(given);
  const isFiltered = Object.keys(given).length > 0;
  return (
    <DataTable
      label="Payments of plans"
      toolbar={
        <FilterBar
          isFiltered={isFiltered}
          onClear={() => url.change({ user: null, state: null, ...NO_DAYS })}
        >
          <TextFilter label="User id" value={userId} onChange={(user) => url.change({ user })} />
          <ChoiceFilter
            label="State"
            any="Any state"
            value={status ?? ""}
            choices={PAYMENT_STATES}
            onChange={(state) => url.change({ state })}
          />
          <DayFilters url={url} />
          <SaveAsFile
            path="subscription-payments"
            name="payments of plans"
            needs="payments.export"
            given={given}
          />
        </FilterBar>
      }
      columns={PAYMENTS}
      rows={rows}
      rowId={({ id }) => id}
      rowName={({ id }) => id}
      state={query}
      problem={explainIfAny(query.error)}
      empty={<EmptyState title="No payments">{isFiltered ? NOTHING_FITS : NOTHING_YET}</EmptyState>}
      footer={<ShowOlder query={query} />}
    />
  );
}

const PLANS: readonly Column<Plan>[] = [
  { id: "name", title: "Plan", cell: (row) => row.name },
  { id: "id", title: "Id", cell: (row) => <span className="figures">{row.id}</span> },
  { id: "rank", title: "Rank", align: "right", cell: (row) => row.rank },
  { id: "months", title: "Months", align: "right", cell: (row) => row.intervalMonths },
  {
    id: "prices",
    title: "Price",
    cell: ({ prices }) =>
      Object.entries(prices).map(([asset, price]) => (
        <div key={asset}>
          <Amount value={price} unit={asset} />
        </div>
      )),
  },
  { id: "features", title: "Features", cell: (row) => row.features.join(", ") || "–" },
  {
    id: "limits",
    title: "Limits",
    cell: ({ limits }) =>
      Object.entries(limits)
        .map(([name, value]) => `${name.replaceAll("_", " ")}: ${value}`)
        .join(", "),
  },
  { id: "offered", title: "Offered", cell: (row) => (row.active ? "yes" : "not to new subscribers") },
];

function Plans() {
  const query = usePlans();
  return (
    <DataTable
      label="Plans"
      columns={PLANS}
      rows={query.data}
      rowId={({ id }) => id}
      rowName={({ name }) => name}
      state={query}
      problem={explainIfAny(query.error)}
      empty={<EmptyState title="No plans">The file of the subscription service has none.</EmptyState>}
    />
  );
}
