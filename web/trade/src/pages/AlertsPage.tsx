import { Button } from "@mantine/core";
import { PlusIcon } from "@primer/octicons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Amount } from "#lib/components/Amount.tsx";
import { Badge } from "#lib/components/Badge.tsx";
import { Card } from "#lib/components/Card.tsx";
import { ConfirmDialog } from "#lib/components/ConfirmDialog.tsx";
import { type Column, DataTable } from "#lib/components/DataTable.tsx";
import { PageHeader } from "#lib/components/PageHeader.tsx";
import { EmptyState } from "#lib/components/states.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import { toastDone } from "#lib/components/toasts.tsx";
import { formatDecimal } from "#lib/decimal.ts";
import { rich, t } from "#lib/language.ts";
import AlertDialog from "../alerts/AlertDialog.tsx";
import { DIRECTIONS_WITHIN, type PriceAlert, restText, SOURCES } from "../alerts/draft.ts";
import { ALERTS, useAlerts } from "../alerts/queries.ts";
import { returned, useExchange } from "../api/client.ts";
import { explainIfAny } from "../api/messages.ts";
import { useSession } from "../api/session.ts";
import { keptSymbol } from "../market/preferences.ts";
import { PageLink } from "../parts/PageLink.tsx";
import classes from "./PlainPage.module.css";

type Shown = { kind: "new" } | { kind: "change" | "delete"; alert: PriceAlert };

const STATES = {
  armed: () => (
    <Badge tone="accent" shape="●">
      {t("Armed")}
    </Badge>
  ),
  waiting: () => (
    <Badge tone="neutral" shape="◐">
      {t("Waiting")}
    </Badge>
  ),
  fired: () => (
    <Badge tone="positive" shape="✓">
      {t("Fired")}
    </Badge>
  ),
} as const;

const COLUMNS: Column<PriceAlert>[] = [
  {
    id: "market",
    get title() {
      return t("Market");
    },
    cell: ({ symbol }) => <PageLink href={`/${symbol}`}>{symbol}</PageLink>,
  },
  {
    id: "condition",
    get title() {
      return t("When");
    },
    cell: ({ source, direction, price, symbol }) => (
      <span>
        {SOURCES[source]} {DIRECTIONS_WITHIN[direction]} <Amount value={price} unit={symbol.split("-")[1]} />
      </span>
    ),
  },
  {
    id: "state",
    get title() {
      return t("State");
    },
    cell: ({ state }) => STATES[state](),
  },
  {
    id: "again",
    get title() {
      return t("Again");
    },
    cell: again,
  },
  {
    id: "fired",
    get title() {
      return t("Fired last");
    },
    cell: ({ firedAt, firedPrice }) =>
      firedAt === null || firedPrice === null ? (
        t("never")
      ) : (
        <span>
          {rich("{time} at {firedPrice}", {
            time: <TimeText milliseconds={Date.parse(firedAt)} />,
            firedPrice: <Amount value={firedPrice} />,
          })}
        </span>
      ),
  },
  {
    id: "note",
    get title() {
      return t("Note");
    },
    cell: ({ note }) => note ?? "–",
  },
];

function again({ repeat, rearmDistance, minimumIntervalSeconds, symbol }: PriceAlert) {
  if (!repeat) return t("no");
  return (
    <span>
      {rich("once in {restText}", { restText: restText(minimumIntervalSeconds ?? 60) })}
      {rearmDistance !== null && (
        <>
          {rich(", back by {rearmDistance}", {
            rearmDistance: <Amount value={rearmDistance} unit={symbol.split("-")[1]} />,
          })}
        </>
      )}
    </span>
  );
}

/** The user's price alerts: what is waited for, what has fired. */
export default function AlertsPage() {
  const query = useAlerts();
  const [shown, setShown] = useState<Shown | null>(null);
  const close = () => setShown(null);
  const create = () => setShown({ kind: "new" });
  return (
    <div className={classes.page}>
      <PageHeader
        title={t("Price alerts")}
        actions={
          <Button leftSection={<PlusIcon />} onClick={create}>
            {t("Alert me")}
          </Button>
        }
      >
        {rich("You are told here, and by mail if you want it. {link}", {
          link: <PageLink href="/account/notifications">{t("Choose how you are told")}</PageLink>,
        })}
      </PageHeader>
      <Card flush>
        <DataTable
          label={t("Price alerts")}
          columns={COLUMNS}
          rows={query.data}
          rowId={({ id }) => id}
          rowName={({ symbol, price }) => t("{symbol} at {price}", { symbol, price: formatDecimal(price) })}
          actions={(alert) => [
            { label: t("Change or arm it…"), onClick: () => setShown({ kind: "change", alert }) },
            { label: t("Delete it…"), danger: true, onClick: () => setShown({ kind: "delete", alert }) },
          ]}
          state={query}
          problem={explainIfAny(query.error)}
          empty={
            <EmptyState
              title={t("No price alerts")}
              action={
                <Button variant="default" onClick={create}>
                  {t("Make your first alert")}
                </Button>
              }
            >
              {t("An alert tells you when a price is reached, also while this page is closed.")}
            </EmptyState>
          }
        />
      </Card>
      {shown?.kind === "new" && <AlertDialog symbol={keptSymbol()} onClose={close} />}
      {shown?.kind === "change" && <AlertDialog alert={shown.alert} onClose={close} />}
      {shown?.kind === "delete" && <DeleteDialog alert={shown.alert} onClose={close} />}
    </div>
  );
}

function DeleteDialog({ alert, onClose }: { alert: PriceAlert; onClose: () => void }) {
  const { rest } = useExchange();
  const { session } = useSession();
  const client = useQueryClient();
  const remove = useMutation({
    mutationFn: () =>
      returned(rest.DELETE("/api/v1/alerts/{alertId}", { params: { path: { alertId: alert.id } } })),
    onSettled: () => void client.invalidateQueries({ queryKey: ALERTS }),
    onSuccess: () => {
      toastDone(t("The alert is deleted"), alert.symbol);
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={t("Delete the alert of {symbol}?", { symbol: alert.symbol })}
      operator={session?.email ?? ""}
      confirm={t("Delete the alert")}
      danger
      isBusy={remove.isPending}
      problem={explainIfAny(remove.error)}
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    >
      <p>
        {rich("{sources} {directions} {price}: you are told no more.", {
          sources: SOURCES[alert.source],
          directions: DIRECTIONS_WITHIN[alert.direction],
          price: <Amount value={alert.price} unit={alert.symbol.split("-")[1]} />,
        })}
      </p>
    </ConfirmDialog>
  );
}
