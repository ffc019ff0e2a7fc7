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
import AlertDialog from "../alerts/AlertDialog.tsx";
import { DIRECTIONS, type PriceAlert, restText, SOURCES } from "../alerts/draft.ts";
import { ALERTS, useAlerts } from "../alerts/queries.ts";
import { returned, useExchange } from "../api/client.ts";
import { explainIfAny } from "../api/messages.ts";
import { useSession } from "../api/session.ts";
import { PageLink } from "../parts/PageLink.tsx";
import classes from "./PlainPage.module.css";

type Shown = { kind: "new" } | { kind: "change" | "delete"; alert: PriceAlert };

const STATES = {
  armed: (
    <Badge tone="accent" shape="●">
      Armed
    </Badge>
  ),
  waiting: (
    <Badge tone="neutral" shape="◐">
      Waiting
    </Badge>
  ),
  fired: (
    <Badge tone="positive" shape="✓">
      Fired
    </Badge>
  ),
} as const;

const COLUMNS: Column<PriceAlert>[] = [
  {
    id: "market",
    title: "Market",
    cell: ({ symbol }) => <PageLink href={`/${symbol}`}>{symbol}</PageLink>,
  },
  {
    id: "condition",
    title: "When",
    cell: ({ source, direction, price, symbol }) => (
      <span>
        {SOURCES[source]} {DIRECTIONS[direction].toLowerCase()}{" "}
        <Amount value={price} unit={symbol.split("-")[1]} />
      </span>
    ),
  },
  { id: "state", title: "State", cell: ({ state }) => STATES[state] },
  { id: "again", title: "Again", cell: again },
  {
    id: "fired",
    title: "Fired last",
    cell: ({ firedAt, firedPrice }) =>
      firedAt === null || firedPrice === null ? (
        "never"
      ) : (
        <span>
          <TimeText milliseconds={Date.parse(firedAt)} /> at <Amount value={firedPrice} />
        </span>
      ),
  },
  { id: "note", title: "Note", cell: ({ note }) => note ?? "–" },
];

function again({ repeat, rearmDistance, minimumIntervalSeconds, symbol }: PriceAlert) {
  if (!repeat) return "no";
  return (
    <span>
      once in {restText(minimumIntervalSeconds ?? 60)}
      {rearmDistance !== null && (
        <>
          , back by <Amount value={rearmDistance} unit={symbol.split("-")[1]} />
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
        title="Price alerts"
        actions={
          <Button leftSection={<PlusIcon />} onClick={create}>
            Alert me
          </Button>
        }
      >
        You are told here, and by mail if you want it.{" "}
        <PageLink href="/account/notifications">Choose how you are told</PageLink>
      </PageHeader>
      <Card flush>
        <DataTable
          label="Price alerts"
          columns={COLUMNS}
          rows={query.data}
          rowId={({ id }) => id}
          rowName={({ symbol, price }) => `${symbol} at ${price}`}
          actions={(alert) => [
            { label: "Change or arm it…", onClick: () => setShown({ kind: "change", alert }) },
            { label: "Delete it…", danger: true, onClick: () => setShown({ kind: "delete", alert }) },
          ]}
          state={query}
          problem={explainIfAny(query.error)}
          empty={
            <EmptyState
              title="No price alerts"
              action={
                <Button variant="default" onClick={create}>
                  Make your first alert
                </Button>
              }
            >
              An alert tells you when a price is reached, also while this page is closed.
            </EmptyState>
          }
        />
      </Card>
      {shown?.kind === "new" && <AlertDialog onClose={close} />}
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
      toastDone("The alert is deleted", alert.symbol);
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={`Delete the alert of ${alert.symbol}?`}
      operator={session?.email ?? ""}
      confirm="Delete the alert"
      danger
      isBusy={remove.isPending}
      problem={explainIfAny(remove.error)}
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    >
      <p>
        {SOURCES[alert.source]} {DIRECTIONS[alert.direction].toLowerCase()}{" "}
        <Amount value={alert.price} unit={alert.symbol.split("-")[1]} />: you are told no more.
      </p>
    </ConfirmDialog>
  );
}
