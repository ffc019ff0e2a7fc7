import type { ReactNode } from "react";
import { Amount } from "#lib/components/Amount.tsx";
import { Badge } from "#lib/components/Badge.tsx";
import { type Column, DataTable } from "#lib/components/DataTable.tsx";
import type { RowAction } from "#lib/components/RowMenu.tsx";
import { ShowOlder } from "#lib/components/ShowOlder.tsx";
import { EmptyState } from "#lib/components/states.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import { explainIfAny } from "../engine/messages.ts";
import { type Edge, type Schemas, type Slice, slice } from "../operator/client.ts";
import { useGrowingList, useUserBalances, useUserKeys, useUserSessions } from "../people/queries.ts";
import { accountName } from "../people/trading.ts";
import { useUserDays } from "./userDays.tsx";
import classes from "./UserLists.module.css";

const at = (time: string) => <TimeText milliseconds={Date.parse(time)} />;

interface GrowingProps<Row> {
  label: string;
  listKey: readonly unknown[];
  read: (edge: Edge, place: { limit: number; cursor?: string }, signal: AbortSignal) => Promise<Slice<Row>>;
  columns: readonly Column<Row>[];
  rowId: (row: Row) => string;
  empty: string;
  toolbar?: ReactNode;
}

/** A list of one user. */
export function Growing<Row>({ label, listKey, read, columns, rowId, empty, toolbar }: GrowingProps<Row>) {
  const { query, rows } = useGrowingList<Row>(listKey, read);
  return (
    <DataTable
      label={label}
      toolbar={toolbar}
      columns={columns}
      rows={rows}
      rowId={rowId}
      rowName={rowId}
      state={query}
      problem={explainIfAny(query.error)}
      empty={<EmptyState title={empty} />}
      footer={<ShowOlder query={query} />}
    />
  );
}

/** A user with the ids of the margin accounts that it has had. */
export interface UserAccounts {
  userId: string;
  marginAccounts: readonly string[];
}

const accountsOf = ({ userId, marginAccounts }: UserAccounts) => [userId, ...marginAccounts];

type Balance = Schemas["SideBySideResponse"];
const amountOr = (value: string | null) => (value === null ? "no answer" : <Amount value={value} />);
const BALANCES: readonly Column<Balance>[] = [
  { id: "account", title: "Account", cell: (row) => accountName(row.account) },
  { id: "asset", title: "Asset", cell: (row) => row.asset },
  { id: "engine", title: "Engine total", align: "right", cell: (row) => amountOr(row.engineTotal) },
  { id: "free", title: "Engine available", align: "right", cell: (row) => amountOr(row.engineAvailable) },
  { id: "ledger", title: "Ledger total", align: "right", cell: (row) => amountOr(row.ledgerTotal) },
  {
    id: "posted",
    title: "Ledger available",
    align: "right",
    cell: (row) => amountOr(row.ledgerAvailable),
  },
  {
    id: "difference",
    title: "Difference",
    align: "right",
    cell: ({ difference }) =>
      difference === null || difference === "0" ? (
        "–"
      ) : (
        <Badge tone="warning" shape="▲">
          <Amount value={difference} signed />
        </Badge>
      ),
  },
];

/** Balances of the spot account and of the open margin account, at the engine and in the ledger side by side. */
export function UserBalances({ userId }: { userId: string }) {
  const query = useUserBalances(userId);
  return (
    <DataTable
      label="Balances"
      toolbar={
        <p className={classes.note}>
          Totals are compared. What open orders hold is locked at the engine and stays available in the
          ledger.
        </p>
      }
      columns={BALANCES}
      rows={query.data}
      rowId={(row) => `${row.account} ${row.asset}`}
      rowName={(row) => `${row.asset} of ${accountName(row.account)}`}
      state={query}
      problem={explainIfAny(query.error)}
      empty={
        <EmptyState title="No balances">
          Neither the engine nor the ledger has anything of this user.
        </EmptyState>
      }
    />
  );
}

type Session = Schemas["UserSessionResponse"];
const SESSIONS: readonly Column<Session>[] = [
  { id: "begun", title: "Began", cell: (row) => at(row.createdAt) },
  { id: "used", title: "Last used", cell: (row) => at(row.lastUsedAt) },
  { id: "address", title: "Address", cell: (row) => <span className="figures">{row.address}</span> },
  { id: "agent", title: "Program", cell: (row) => row.userAgent || "–" },
];

export function UserSessions(props: { userId: string; actions: (row: Session) => readonly RowAction[] }) {
  const query = useUserSessions(props.userId);
  return (
    <DataTable
      label="Sessions"
      columns={SESSIONS}
      rows={query.data}
      rowId={(row) => row.sessionId}
      rowName={(row) => `the session from ${row.address}`}
      state={query}
      problem={explainIfAny(query.error)}
      empty={<EmptyState title="No sessions">The user is not logged in anywhere.</EmptyState>}
      actions={props.actions}
    />
  );
}

type Key = Schemas["ApiKeyResponse"];
const KEYS: readonly Column<Key>[] = [
  { id: "name", title: "Name", cell: (row) => row.name },
  { id: "id", title: "Key", cell: (row) => <span className="figures">{row.id}</span> },
  { id: "scopes", title: "Scopes", cell: (row) => row.scopes.join(", ") },
  { id: "networks", title: "Networks", cell: (row) => row.ipAllowList.join(", ") || "any" },
  { id: "made", title: "Made", cell: (row) => at(row.createdAt) },
  { id: "used", title: "Last used", cell: (row) => (row.lastUsedAt === null ? "never" : at(row.lastUsedAt)) },
];

interface KeysProps {
  userId: string;
  toolbar?: ReactNode;
  actions: (row: Key) => readonly RowAction[];
}

export function UserKeys({ userId, toolbar, actions }: KeysProps) {
  const query = useUserKeys(userId);
  return (
    <DataTable
      label="API keys"
      toolbar={toolbar}
      actions={actions}
      columns={KEYS}
      rows={query.data}
      rowId={(row) => row.id}
      rowName={(row) => row.name}
      state={query}
      problem={explainIfAny(query.error)}
      empty={<EmptyState title="No API keys">The user has none.</EmptyState>}
    />
  );
}

type Order = Schemas["OrderRecord"];
const ORDERS: readonly Column<Order>[] = [
  { id: "made", title: "Made", cell: (row) => at(row.createdAt) },
  { id: "account", title: "Account", cell: (row) => accountName(row.userId) },
  { id: "id", title: "Order", cell: (row) => <span className="figures">{row.orderId}</span> },
  { id: "symbol", title: "Market", cell: (row) => row.symbol },
  { id: "side", title: "Side", cell: (row) => row.side },
  { id: "type", title: "Type", cell: (row) => row.type },
  {
    id: "price",
    title: "Price",
    align: "right",
    cell: (row) => (row.price ? <Amount value={row.price} /> : "–"),
  },
  { id: "quantity", title: "Quantity", align: "right", cell: (row) => <Amount value={row.quantity} /> },
  { id: "status", title: "Status", cell: (row) => row.status },
];

export function UserOrders({ user }: { user: UserAccounts }) {
  const { userId } = user;
  const { span, toolbar } = useUserDays(userId, {
    list: "orders",
    needs: "trades.export",
    accounts: { ids: accountsOf(user), none: "All accounts" },
  });
  return (
    <Growing<Order>
      label="Orders"
      toolbar={toolbar}
      listKey={["orders", userId, span]}
      read={({ rest }, place, signal) =>
        slice(
          rest.GET("/api/v1/operator/users/{userId}/orders", {
            params: { path: { userId }, query: { ...span, ...place } },
            signal,
          }),
        )
      }
      columns={ORDERS}
      rowId={(row) => row.orderId}
      empty="No orders"
    />
  );
}

type Trade = Schemas["UserTrade"];
const TRADES: readonly Column<Trade>[] = [
  { id: "at", title: "Executed", cell: (row) => at(row.executedAt) },
  { id: "account", title: "Account", cell: (row) => accountName(row.account) },
  { id: "symbol", title: "Market", cell: (row) => row.symbol },
  { id: "side", title: "Side", cell: (row) => row.side },
  { id: "price", title: "Price", align: "right", cell: (row) => <Amount value={row.price} /> },
  { id: "quantity", title: "Quantity", align: "right", cell: (row) => <Amount value={row.quantity} /> },
  {
    id: "fee",
    title: "Fee",
    align: "right",
    cell: (row) => <Amount value={row.fee} unit={row.feeCurrency} />,
  },
  { id: "role", title: "Role", cell: (row) => row.role },
];

export function UserTrades({ user }: { user: UserAccounts }) {
  const { userId } = user;
  const { span, toolbar } = useUserDays(userId, {
    list: "trades",
    needs: "trades.export",
    accounts: { ids: accountsOf(user), none: "All accounts" },
  });
  return (
    <Growing<Trade>
      label="Trades"
      toolbar={toolbar}
      listKey={["trades", userId, span]}
      read={({ rest }, place, signal) =>
        slice(
          rest.GET("/api/v1/operator/users/{userId}/trades", {
            params: { path: { userId }, query: { ...span, ...place } },
            signal,
          }),
        )
      }
      columns={TRADES}
      rowId={(row) => `${row.tradeId} ${row.role}`}
      empty="No trades"
    />
  );
}

type Movement = Schemas["LedgerHistoryEntry"];
const MOVEMENTS: readonly Column<Movement>[] = [
  { id: "at", title: "Posted", cell: (row) => at(row.createdAt) },
  { id: "type", title: "Type", cell: (row) => row.entryType },
  {
    id: "amount",
    title: "Amount",
    align: "right",
    cell: (row) => <Amount value={row.amount} unit={row.asset} signed />,
  },
  { id: "after", title: "Balance after", align: "right", cell: (row) => <Amount value={row.balance} /> },
  { id: "reference", title: "Reference", cell: (row) => <span className="figures">{row.referenceId}</span> },
];

/** Movements of one account: of the spot account, unless another is chosen. */
export function UserMovements({ user }: { user: UserAccounts }) {
  const { userId } = user;
  const { span, toolbar } = useUserDays(userId, {
    list: "transactions",
    needs: "balances.export",
    holds: "with references",
    accounts: { ids: accountsOf(user), none: "Spot" },
  });
  return (
    <Growing<Movement>
      label="Movements"
      toolbar={toolbar}
      listKey={["transactions", userId, span]}
      read={({ rest }, place, signal) =>
        slice(
          rest.GET("/api/v1/operator/users/{userId}/transactions", {
            params: { path: { userId }, query: { ...span, ...place } },
            signal,
          }),
        )
      }
      columns={MOVEMENTS}
      rowId={(row) => row.transactionId}
      empty="No movements"
    />
  );
}

type Activity = Schemas["ActivityResponse"];
const ACTIVITY: readonly Column<Activity>[] = [
  { id: "at", title: "When", cell: (row) => at(row.createdAt) },
  { id: "what", title: "What", cell: (row) => row.kind.replaceAll("_", " ") },
  { id: "address", title: "Address", cell: (row) => <span className="figures">{row.address || "–"}</span> },
  { id: "agent", title: "Program", cell: (row) => row.userAgent || "–" },
];

export function UserActivity({ userId }: { userId: string }) {
  const { span, isFiltered, toolbar } = useUserDays(userId, {
    list: "activity",
    needs: "users.export",
    holds: "with addresses and programs",
  });
  return (
    <Growing<Activity>
      label="Activity"
      toolbar={toolbar}
      listKey={["activity", userId, span]}
      read={({ rest }, place, signal) =>
        slice(
          rest.GET("/api/v1/operator/users/{userId}/activity", {
            params: { path: { userId }, query: { ...span, ...place } },
            signal,
          }),
        )
      }
      columns={ACTIVITY}
      rowId={(row) => row.id}
      empty={isFiltered ? "Nothing happened then" : "Nothing happened yet"}
    />
  );
}

type Notice = Schemas["NotificationResponse"];
const NOTICES: readonly Column<Notice>[] = [
  { id: "at", title: "Sent", cell: (row) => at(row.createdAt) },
  { id: "title", title: "Title", cell: (row) => row.title },
  { id: "text", title: "Text", cell: (row) => row.text },
];

export function UserNotices({ userId }: { userId: string }) {
  const { span, isFiltered, toolbar } = useUserDays(userId, {
    list: "notifications",
    needs: "users.export",
    holds: "as the user was told",
  });
  return (
    <Growing<Notice>
      label="Notices"
      toolbar={toolbar}
      listKey={["notices", userId, span]}
      read={({ rest }, place, signal) =>
        slice(
          rest.GET("/api/v1/operator/users/{userId}/notifications", {
            params: { path: { userId }, query: { ...span, ...place } },
            signal,
          }),
        )
      }
      columns={NOTICES}
      rowId={(row) => row.id}
      empty={
        isFiltered ? "The user was told nothing then" : "The user was told nothing in the last two weeks"
      }
    />
  );
}

type Note = Schemas["NoteResponse"];
const NOTES: readonly Column<Note>[] = [
  { id: "at", title: "Noted", cell: (row) => at(row.createdAt) },
  { id: "by", title: "By", cell: (row) => row.author },
  { id: "text", title: "Note", cell: (row) => row.text },
];

/** What operators noted. `button` adds a note. */
export function UserNotes({ userId, button }: { userId: string; button: ReactNode }) {
  const { span, isFiltered, toolbar } = useUserDays(userId, {
    list: "notes",
    needs: "users.export",
    holds: "with the names of operators",
  });
  return (
    <Growing<Note>
      label="Notes"
      toolbar={
        <>
          {toolbar}
          {button}
        </>
      }
      listKey={["notes", userId, span]}
      read={({ rest }, place, signal) =>
        slice(
          rest.GET("/api/v1/operator/users/{userId}/notes", {
            params: { path: { userId }, query: { ...span, ...place } },
            signal,
          }),
        )
      }
      columns={NOTES}
      rowId={(row) => String(row.id)}
      empty={isFiltered ? "Nobody noted anything then" : "Nobody has noted anything"}
    />
  );
}
