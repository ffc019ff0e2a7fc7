import { Button } from "@mantine/core";
import { type ComponentProps, type KeyboardEvent, useState } from "react";
import { ConfirmDialog } from "#lib/components/ConfirmDialog.tsx";
import { type Column, DataTable } from "#lib/components/DataTable.tsx";
import { DecimalField } from "#lib/components/DecimalField.tsx";
import { RowButton } from "#lib/components/RowButton.tsx";
import { EmptyState } from "#lib/components/states.tsx";
import { late, MissingDialog } from "#lib/components/late.tsx";
import { formatDecimal } from "#lib/decimal.ts";
import { several, t } from "#lib/language.ts";
import { explain, explainIfAny } from "../api/messages.ts";
import { isBound, type Order } from "../api/orderKinds.ts";
import {
  useLastPrice,
  useMarkets,
  useOpenOrders,
  useReadLastPrice,
  useTradingRules,
} from "../api/queries.ts";
import { useSession } from "../api/session.ts";
import { isFar, type Wanted, wantedOf } from "./amending.ts";
import { refusedFields, type WantedFaults } from "./amendment.ts";
import { CancelListed } from "./CancelListed.tsx";
import { OPEN_ORDER_CARD, orderActions, orderColumns, usePlaces } from "./columns.tsx";
import { useOneClick } from "./habits.ts";
import classes from "./OrdersPanel.module.css";
import { orderName } from "./orderName.ts";
import { useCancelAll, useCancelOrder } from "./cancelling.ts";
import { tellRefused, useAmendOrder } from "./changing.ts";
import { changeOf, followsInPercent, isChangeable } from "./replacing.ts";
import { triggerName } from "./trigger.ts";

const AmendReview = late(() => import("./AmendReview.tsx"), { Missing: MissingDialog });

/** Each change of an order draws the whole table: it begins with so many rows, and grows by as many. */
const SHOWN_STEP = 200;

/** An order whose fields are open, and what they say. */
interface Editing {
  orderId: string;
  wanted: Wanted;
  /** What the exchange said of the fields. */
  refused: WantedFaults;
  /** Whether the review is open. */
  asks: boolean;
}

/** The field in which a change most likely begins. */
const firstOf = ({ stopPrice, trailing }: Wanted): keyof Wanted =>
  trailing !== "" ? "trailing" : stopPrice !== "" ? "stopPrice" : "price";

const buttonId = (orderId: string) => `amend-${orderId}`;

/** Open orders, of one market or of all. Price, amount and what an order waits for are changed in their row. */
export function OpenOrders({ only }: { only: string | undefined }) {
  const query = useOpenOrders(only);
  const { data: markets = [] } = useMarkets();
  const readLastPrice = useReadLastPrice();
  const { data: rules } = useTradingRules();
  const { session } = useSession();
  const isOneClick = useOneClick(session?.userId);
  const places = usePlaces();
  const cancel = useCancelOrder();
  const [asks, setAsks] = useState(false);
  /** An order that others depend on, which the user wants to cancel. */
  const [ending, setEnding] = useState<Order | null>(null);
  const [editing, setEditing] = useState<Editing | null>(null);
  const leave = () => {
    setEditing(null);
    // The fields go, and the focus with them, to the button that opened them.
    if (editing) window.setTimeout(() => document.getElementById(buttonId(editing.orderId))?.focus());
  };
  const amend = useAmendOrder({
    onDone: leave,
    onRefused: (error) => {
      const refused = edited ? refusedFields(error, edited) : {};
      const isOfField = Object.keys(refused).length > 0;
      if (isOfField) setEditing((before) => before && { ...before, refused, asks: false });
      else if (!editing?.asks) tellRefused(error);
    },
  });
  const [shown, setShown] = useState(SHOWN_STEP);
  const rows = query.data?.orders;
  const hasOlder = query.data?.hasOlder ?? false;
  // An order that has ended meanwhile has no row.
  const edited = rows?.find(({ orderId }) => orderId === editing?.orderId);
  const market = markets.find(({ symbol }) => symbol === edited?.symbol);
  const amendment = edited && editing && market ? changeOf(edited, editing.wanted, market) : null;

  const begin = (order: Order) => {
    amend.reset();
    setEditing({ orderId: order.orderId, wanted: wantedOf(order), refused: {}, asks: false });
  };
  const send = () => {
    if (edited && amendment?.body && !amend.isPending)
      amend.mutate({ order: edited, body: amendment.body, replacement: amendment.replacement });
  };
  const submit = () => {
    if (!amendment || !edited || Object.keys(amendment.faults).length > 0) return;
    if (amendment.body === null) leave();
    else if (isOneClick && !isFar(edited, amendment.body.price ?? "", readLastPrice(edited.symbol))) send();
    else setEditing((before) => before && { ...before, asks: true });
  };
  const change = (changes: Partial<Wanted>) =>
    setEditing((before) => before && { ...before, wanted: { ...before.wanted, ...changes }, refused: {} });
  const keys = (event: KeyboardEvent) => {
    if (event.key !== "Enter" && event.key !== "Escape") return;
    event.preventDefault();
    if (event.key === "Enter") submit();
    else leave();
  };

  const fieldOf = (order: Order, name: keyof Wanted, label: string, unit?: string) =>
    editing?.orderId === order.orderId && wantedOf(order)[name] !== "" ? (
      <DecimalField
        size="xs"
        className={classes.field}
        aria-label={t("{label} of {orderName}", { label, orderName: orderName(order) })}
        value={editing.wanted[name]}
        error={editing.refused[name] ?? amendment?.faults[name]}
        autoFocus={name === firstOf(wantedOf(order))}
        {...(unit === undefined ? {} : { rightSection: <span className={classes.unit}>{unit}</span> })}
        onValue={(text) => change({ [name]: text })}
        onKeyDown={keys}
      />
    ) : null;
  const field = (column: Column<Order>, name: keyof Wanted, label: string): Column<Order> => ({
    ...column,
    cell: (order) => fieldOf(order, name, label) ?? column.cell(order),
  });
  const columns: Column<Order>[] = [
    ...orderColumns(places).map((column) => {
      if (column.id === "price") return field(column, "price", t("Price"));
      // What an order waits for stands below its type.
      if (column.id === "type")
        return {
          ...column,
          cell: (order: Order) => (
            <>
              {column.cell(order)}
              {fieldOf(order, "stopPrice", triggerName(order.type))}
              {fieldOf(order, "trailing", t("Follows by"), followsInPercent(order) ? "%" : undefined)}
            </>
          ),
        };
      return column.id === "quantity" ? field(column, "quantity", t("Amount")) : column;
    }),
    {
      id: "change",
      title: t("Change"),
      align: "right",
      isPinned: true,
      area: { name: "change", align: "right" },
      cell: (order) =>
        editing?.orderId === order.orderId ? (
          <span className={classes.buttons}>
            <Button size="compact-xs" loading={amend.isPending} onClick={submit}>
              {isOneClick ? t("Save") : t("Review")}
            </Button>
            <Button size="compact-xs" variant="default" onClick={leave}>
              {t("Leave it")}
            </Button>
          </span>
        ) : (
          <span className={classes.buttons}>
            {rules?.rules === "complete" && isChangeable(order) && (
              <RowButton
                id={buttonId(order.orderId)}
                aria-label={t("Change {orderName}", { orderName: orderName(order) })}
                onClick={() => begin(order)}
              >
                {t("Change")}
              </RowButton>
            )}
            <RowButton
              aria-label={t("Cancel {orderName}", { orderName: orderName(order) })}
              isBusy={cancel.isPending && cancel.variables.orderId === order.orderId}
              onClick={() =>
                isBound(order) ? setEnding(order) : cancel.mutate(order, { onSuccess: focusTab })
              }
            >
              {t("Cancel|order")}
            </RowButton>
          </span>
        ),
    },
  ];
  return (
    <>
      <DataTable
        label={t("Open orders")}
        toolbar={
          <Button
            size="compact-sm"
            variant="default"
            disabled={!rows || (rows.length === 0 && !hasOlder)}
            onClick={() => setAsks(true)}
          >
            {t("Cancel all")}
          </Button>
        }
        columns={columns}
        card={OPEN_ORDER_CARD}
        rows={rows?.slice(0, shown)}
        rowId={({ orderId }) => orderId}
        rowName={orderName}
        actions={orderActions}
        state={query}
        problem={explainIfAny(query.error)}
        empty={
          <EmptyState title={t("No open orders")}>
            {t("Orders that wait in the book appear here.")}
          </EmptyState>
        }
        footer={
          rows &&
          (hasOlder || rows.length > shown) && (
            <div className={classes.older}>
              <span>
                {t("The newest {count} orders are shown. There are older ones.", {
                  count: formatDecimal(String(Math.min(shown, rows.length))),
                })}
              </span>
              {rows.length > shown && (
                <Button size="xs" variant="default" onClick={() => setShown(shown + SHOWN_STEP)}>
                  {t("Show older")}
                </Button>
              )}
            </div>
          )
        }
      />
      {ending && <CancelListed order={ending} onClose={() => setEnding(null)} />}
      {asks && (
        <CancelAllDialog
          only={only}
          count={hasOlder ? null : (rows?.length ?? 0)}
          onClose={() => setAsks(false)}
        />
      )}
      {editing?.asks && edited && market && amendment && (
        <LiveReview
          market={market}
          order={edited}
          wanted={editing.wanted}
          change={amendment}
          isBusy={amend.isPending}
          error={amend.error}
          onConfirm={send}
          onClose={() => setEditing((before) => before && { ...before, asks: false })}
        />
      )}
    </>
  );
}

/** The review beside the last price of now. It alone is drawn with every price. */
function LiveReview(props: Omit<ComponentProps<typeof AmendReview>, "lastPrice">) {
  return <AmendReview {...props} lastPrice={useLastPrice(props.order.symbol)} />;
}

/** The button that had the focus is gone with its row: the keyboard goes on from the tab of the list. */
function focusTab() {
  document.querySelector<HTMLElement>("[role=tab][aria-selected=true]")?.focus();
}

function CancelAllDialog({
  only,
  count,
  onClose,
}: {
  only: string | undefined;
  /** How many there are; null if nobody knows. */
  count: number | null;
  onClose: () => void;
}) {
  const cancelAll = useCancelAll(onClose);
  return (
    <ConfirmDialog
      title={only ? t("Cancel all orders on {only}?", { only }) : t("Cancel all orders?")}
      operator=""
      confirm={
        count === null ? t("Cancel all") : several(count, "Cancel {count} order", "Cancel {count} orders")
      }
      dismiss={t("Keep them")}
      danger
      isBusy={cancelAll.isPending}
      problem={cancelAll.error ? explain(cancelAll.error) : null}
      onConfirm={() => cancelAll.mutate(only)}
      onClose={onClose}
    >
      <p>{t("What they have filled so far stays. What they hold becomes free again.")}</p>
    </ConfirmDialog>
  );
}
