import { Button, SegmentedControl, Skeleton } from "@mantine/core";
import { CheckIcon } from "@primer/octicons-react";
import { useState } from "react";
import { Amount } from "#lib/components/Amount.tsx";
import { Badge } from "#lib/components/Badge.tsx";
import { Card } from "#lib/components/Card.tsx";
import { type Column, DataTable } from "#lib/components/DataTable.tsx";
import { PageHeader } from "#lib/components/PageHeader.tsx";
import { ShowOlder } from "#lib/components/ShowOlder.tsx";
import { EmptyState, ErrorState, WarningNote } from "#lib/components/states.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import { formatCount } from "#lib/counts.ts";
import { inSentence, rich, several, t } from "#lib/language.ts";
import { withDecimalSign } from "#lib/separators.ts";
import { discountBps, type Plan, priceOf, stakingBalanceOf, type Subscription } from "../../account/plans.ts";
import { CancelDialog, Price, SubscribeDialog, UpgradeDialog } from "../../account/SubscriptionDialogs.tsx";
import { usePayments, usePlans, useSubscription } from "../../account/subscriptionQueries.ts";
import { type SubscriptionClient, type SubscriptionSchemas, useExchange } from "../../api/client.ts";
import { useSession } from "../../api/session.ts";
import { explain, explainIfAny } from "../../api/messages.ts";
import { Said } from "../../parts/Said.tsx";
import classes from "./SubscriptionPage.module.css";

type Payment = SubscriptionSchemas["PaymentResponse"];
type Dialog = { kind: "subscribe" | "upgrade"; plan: Plan } | { kind: "cancel" } | null;

const LIMITS: Readonly<Record<string, string>> = {
  get api_keys() {
    return t("API keys");
  },
  get saved_addresses() {
    return t("saved addresses");
  },
  get price_alerts() {
    return t("price alerts");
  },
};

const words = (name: string) => name.replace(/_/g, " ");
const limitText = (name: string, count: number) => `${formatCount(count)} ${LIMITS[name] ?? words(name)}`;
const percentText = (basisPoints: number) =>
  `${withDecimalSign(`${Math.floor(basisPoints / 100)}${basisPoints % 100 === 0 ? "" : `.${String(basisPoints % 100).padStart(2, "0")}`}`)} %`;

/** The plans, that of the user, and what was paid for it. */
export default function SubscriptionPage() {
  const { subscriptions } = useExchange();
  return (
    <>
      <PageHeader title={t("Subscription")}>
        {t("Plans with higher limits, paid a period ahead from your spot account.")}
      </PageHeader>
      {subscriptions === null ? (
        <EmptyState title={t("This exchange has no plans")}>
          {t("Its operator runs no subscription service. Everything else works without one.")}
        </EmptyState>
      ) : (
        <Plans service={subscriptions} />
      )}
    </>
  );
}

function Plans({ service }: { service: SubscriptionClient }) {
  const plans = usePlans(service);
  const subscription = useSubscription(service);
  const { session } = useSession();
  const [chosen, setChosen] = useState<string | null>(null);
  const [dialog, setDialog] = useState<Dialog>(null);
  const error = plans.error ?? subscription.error;
  if (plans.data === undefined || subscription.data === undefined)
    return error ? (
      <ErrorState
        problem={explain(error)}
        onRetry={() => {
          void plans.refetch();
          void subscription.refetch();
        }}
      />
    ) : (
      <Skeleton height={320} role="progressbar" aria-label={t("Loading the plans")} />
    );
  const { entitlements, subscription: own } = subscription.data;
  const token = plans.data[0]?.paymentToken ?? "";
  const assets = [...new Set(plans.data.flatMap(({ prices }) => Object.keys(prices)))].sort(
    (a, b) => (a === token ? 0 : 1) - (b === token ? 0 : 1) || a.localeCompare(b),
  );
  // An upgrade is paid in the asset of the subscription.
  const asset = own?.asset ?? chosen ?? assets[0] ?? "";
  const discount = discountBps(stakingBalanceOf(session?.accessToken ?? ""));
  const current = plans.data.find(({ id }) => id === own?.planId);
  const close = () => setDialog(null);
  const nameOf = (id: string) => plans.data.find((plan) => plan.id === id)?.name ?? id;
  return (
    <div className={classes.sections}>
      {error && (
        <WarningNote>
          {rich("{title}. What you see may be old.", { title: explain(error).title })}
        </WarningNote>
      )}
      <OwnPlan
        entitlements={entitlements}
        subscription={own}
        name={own ? nameOf(own.planId) : ""}
        onCancel={() => setDialog({ kind: "cancel" })}
      />
      <div className={classes.choice}>
        <p className={classes.text}>
          {own
            ? t(
                "An upgrade is paid in {asset}, as your plan is. Charges are taken from the {asset} balance of your spot account.",
                { asset },
              )
            : t(
                "Paid in {token}, a plan costs {discount} less. Stakes raise that to 20 %. Charges are taken from the {asset} balance of your spot account.",
                { token, discount: percentText(discount), asset },
              )}
        </p>
        {!own && assets.length > 1 && (
          <SegmentedControl
            aria-label={t("Pay in")}
            data={assets.map((value) => ({
              value,
              label: value === token ? `${value} −${percentText(discount)}` : value,
            }))}
            value={asset}
            onChange={setChosen}
          />
        )}
      </div>
      <ul className={classes.plans} aria-label={t("Plans")}>
        {plans.data.map((plan) => (
          <PlanCard
            key={plan.id}
            plan={plan}
            asset={asset}
            discount={discount}
            own={own}
            rank={current?.rank ?? null}
            onChoose={() => setDialog({ kind: own ? "upgrade" : "subscribe", plan })}
          />
        ))}
      </ul>
      <Payments service={service} nameOf={nameOf} />
      {dialog?.kind === "subscribe" && (
        <SubscribeDialog
          service={service}
          plan={dialog.plan}
          asset={asset}
          discount={discount}
          onClose={close}
        />
      )}
      {dialog?.kind === "upgrade" && own && (
        <UpgradeDialog
          service={service}
          plan={dialog.plan}
          current={nameOf(own.planId)}
          subscription={own}
          discount={discount}
          onClose={close}
        />
      )}
      {dialog?.kind === "cancel" && own && (
        <CancelDialog service={service} name={nameOf(own.planId)} periodEnd={own.periodEnd} onClose={close} />
      )}
    </div>
  );
}

function StateBadge({ subscription: { status, cancelAtPeriodEnd } }: { subscription: Subscription }) {
  if (status === "past_due")
    return (
      <Badge tone="warning" shape="◐">
        {t("Payment failed")}
      </Badge>
    );
  return cancelAtPeriodEnd ? (
    <Badge tone="warning" shape="◐">
      {t("Cancelled")}
    </Badge>
  ) : (
    <Badge tone="positive" shape="●">
      {t("Active")}
    </Badge>
  );
}

/** The user's plan, and the limits that it gives. */
function OwnPlan({
  entitlements: { limits },
  subscription,
  name,
  onCancel,
}: {
  entitlements: SubscriptionSchemas["EntitlementsResponse"];
  subscription: Subscription | null;
  name: string;
  onCancel: () => void;
}) {
  const has = Object.entries(limits).map((limit) => limitText(...limit));
  const hasCredit = subscription !== null && !/^0(\.0*)?$/.test(subscription.credit);
  return (
    <Card title={t("Your plan")}>
      {subscription?.status === "past_due" && (
        <WarningNote>
          {rich(
            "The last payment failed. It is tried again on {nextChargeOn}: have enough {asset} in your spot account by then. Your plan stays meanwhile.",
            { nextChargeOn: subscription.nextChargeOn, asset: subscription.asset },
          )}
        </WarningNote>
      )}
      <dl className={classes.facts}>
        <div>
          <dt>{t("Plan")}</dt>
          <dd>
            {subscription ? (
              <>
                <strong>{name}</strong> <StateBadge subscription={subscription} />
              </>
            ) : (
              t("None")
            )}
          </dd>
        </div>
        {subscription && (
          <>
            <div>
              <dt>{t("Paid period (UTC)")}</dt>
              <dd>
                <span className="figures">
                  {rich("{periodStart} to", { periodStart: subscription.periodStart })}
                </span>{" "}
                <span className="figures">{subscription.periodEnd}</span>
              </dd>
            </div>
            <div>
              <dt>{subscription.nextChargeOn ? t("Next charge") : t("Access until")}</dt>
              <dd className="figures">{subscription.nextChargeOn ?? subscription.accessUntil ?? "–"}</dd>
            </div>
          </>
        )}
        {subscription && hasCredit && (
          <div>
            <dt>{t("Credit")}</dt>
            <dd>
              <Amount value={subscription.credit} unit={subscription.asset} places={2} />
            </dd>
          </div>
        )}
        <div>
          <dt>{t("You may use")}</dt>
          <dd>{has.join(", ")}</dd>
        </div>
      </dl>
      {subscription && !subscription.cancelAtPeriodEnd && (
        <Button variant="default" onClick={onCancel}>
          {t("Cancel the subscription")}
        </Button>
      )}
    </Card>
  );
}

function PlanCard({
  plan,
  asset,
  discount,
  own,
  rank,
  onChoose,
}: {
  plan: Plan;
  asset: string;
  discount: number;
  own: Subscription | null;
  rank: number | null;
  onChoose: () => void;
}) {
  const price = priceOf(plan, asset, discount);
  const isOwn = own?.planId === plan.id;
  const isUpgrade = own?.status === "active" && (rank === null || plan.rank > rank);
  const reason = isOwn
    ? t("This is your plan.")
    : own?.status === "past_due"
      ? t("Your plan must be paid first.")
      : own && !isUpgrade
        ? t("Your plan has more.")
        : price === null
          ? t("It cannot be paid in {asset}.", { asset })
          : null;
  return (
    <li className={classes.plan} data-current={isOwn || undefined}>
      <div className={classes.head}>
        <h3>{plan.name}</h3>
        {isOwn && (
          <Badge tone="accent" shape="●">
            {t("Yours")}
          </Badge>
        )}
      </div>
      <p className={classes.price}>
        {price === null ? "–" : <Price value={price} asset={asset} />}{" "}
        <span className={classes.period}>
          {plan.intervalMonths === 1
            ? t("a month")
            : several(plan.intervalMonths, "for {count} month", "for {count} months")}
        </span>
      </p>
      <ul className={classes.features}>
        {Object.entries(plan.limits)
          .map((limit) => limitText(...limit))
          .map((text) => (
            <li key={text}>
              <CheckIcon />
              {text}
            </li>
          ))}
      </ul>
      {reason === null ? (
        <Button variant={own ? "default" : "outline"} onClick={onChoose}>
          {own ? t("Upgrade to {name}", { name: plan.name }) : t("Subscribe to {name}", { name: plan.name })}
        </Button>
      ) : (
        <p className={classes.text}>{reason}</p>
      )}
    </li>
  );
}

const KINDS: Readonly<Record<Payment["kind"], string>> = {
  get subscribe() {
    return t("First period");
  },
  get upgrade() {
    return t("Upgrade");
  },
  get renewal() {
    return t("Renewal");
  },
};

function Payments({ service, nameOf }: { service: SubscriptionClient; nameOf: (planId: string) => string }) {
  const query = usePayments(service);
  const columns: Column<Payment>[] = [
    {
      id: "time",
      title: t("Time"),
      cell: ({ createdAt }) => <TimeText milliseconds={Date.parse(createdAt)} />,
    },
    {
      id: "what",
      title: t("What"),
      cell: ({ kind, planId }) => `${nameOf(planId)}, ${inSentence(KINDS[kind])}`,
    },
    {
      id: "price",
      title: t("Price"),
      align: "right",
      cell: ({ price, asset }) => (price === null ? "–" : <Amount value={price} unit={asset} places={2} />),
    },
    {
      id: "discount",
      title: t("Discount"),
      align: "right",
      cell: ({ discountBps: found }) => (found === null || found === 0 ? t("none") : percentText(found)),
    },
    {
      id: "credit",
      title: t("Credit"),
      align: "right",
      cell: ({ credit, asset }) =>
        credit === null ? "–" : <Amount value={credit} unit={asset} places={2} />,
    },
    {
      id: "paid",
      title: t("Paid"),
      align: "right",
      cell: ({ amount, asset }) =>
        amount === null ? "–" : <Amount value={amount} unit={asset} places={2} />,
    },
    {
      id: "state",
      title: t("State"),
      cell: ({ status, reason }) =>
        status === "completed" ? (
          <Badge tone="positive" shape="●">
            {t("Paid")}
          </Badge>
        ) : (
          <>
            <Badge tone="negative" shape="✕">
              {t("Failed")}
            </Badge>{" "}
            {reason !== null && <Said reason={reason} />}
          </>
        ),
    },
  ];
  return (
    <Card title={t("Payments")} flush>
      <DataTable
        label={t("Payments")}
        columns={columns}
        rows={query.data?.pages.flatMap(({ rows }) => rows)}
        rowId={({ id }) => id}
        rowName={({ id }) => id}
        state={query}
        problem={explainIfAny(query.error)}
        empty={
          <EmptyState title={t("No payments yet")}>{t("Each payment for a plan appears here.")}</EmptyState>
        }
        footer={<ShowOlder query={query} />}
      />
    </Card>
  );
}
