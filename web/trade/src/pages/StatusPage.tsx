import { useQuery } from "@tanstack/react-query";
import { Badge } from "#lib/components/Badge.tsx";
import { Card } from "#lib/components/Card.tsx";
import { type Column, DataTable, withAreas } from "#lib/components/DataTable.tsx";
import { PageHeader } from "#lib/components/PageHeader.tsx";
import { EmptyState } from "#lib/components/states.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import { t } from "#lib/language.ts";
import { UnreachableError } from "../api/errors.ts";
import { useNetworks } from "../api/queries.ts";
import { explainIfAny } from "../api/messages.ts";
import { useLink } from "../api/live.ts";
import { FUNCTIONS, type FunctionState, readStatus, summary } from "../status/status.ts";
import classes from "./PlainPage.module.css";

const READ_MS = 10_000;

const COLUMNS: readonly Column<FunctionState>[] = [
  {
    id: "function",
    get title() {
      return t("Function");
    },
    cell: ({ name }) => (
      <>
        <strong>{FUNCTIONS[name]?.title ?? name}</strong>
        <div className={classes.text}>{FUNCTIONS[name]?.text}</div>
      </>
    ),
  },
  {
    id: "state",
    get title() {
      return t("State");
    },
    cell: ({ state }) =>
      state === "works" ? (
        <Badge tone="positive" shape="●">
          {t("Works")}
        </Badge>
      ) : state === "degraded" ? (
        <Badge tone="warning" shape="◐">
          {t("Works in part")}
        </Badge>
      ) : (
        <Badge tone="negative" shape="!">
          {t("Down")}
        </Badge>
      ),
  },
  {
    id: "since",
    get title() {
      return t("Since");
    },
    cell: ({ since }) => <TimeText milliseconds={since} />,
  },
];

/** A function on a phone. */
const CARD = '"name state" "since since" / minmax(0, 1fr) auto';
const AREAS = {
  function: { name: "name" },
  state: { name: "state", align: "right" },
  since: { name: "since", isTitled: true },
} as const;

/** Deposits and withdrawals that the operators have paused; nothing if there are none. */
function PausedTransfers() {
  const paused = (useNetworks(READ_MS).data ?? []).filter(
    ({ depositsEnabled, withdrawalsEnabled }) => !depositsEnabled || !withdrawalsEnabled,
  );
  if (paused.length === 0) return null;
  return (
    <Card title={t("Paused at present")}>
      <ul>
        {paused.map((one) => (
          <li key={`${one.asset} ${one.network}`}>
            <strong>
              {one.asset} · {one.network}
            </strong>
            {": "}
            {one.depositsEnabled
              ? t("withdrawals")
              : one.withdrawalsEnabled
                ? t("deposits")
                : t("deposits and withdrawals")}
            {one.notice && ` – ${one.notice}`}
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** Whether the exchange works, for everybody to read. */
export default function StatusPage() {
  const link = useLink();
  const status = useQuery({
    queryKey: ["status"],
    queryFn: async ({ signal }) => {
      const response = await fetch("/status.json", { signal }).catch(() => null);
      if (!response?.ok) throw new UnreachableError(window.location.origin, true);
      return readStatus(await response.json());
    },
    refetchInterval: READ_MS,
    meta: { isPublic: true },
  });
  return (
    <div className={classes.page}>
      <PageHeader title={t("Status")}>
        {status.data ? summary(status.data) : t("What works at this moment.")}
      </PageHeader>
      <div className={classes.cards}>
        <PausedTransfers />
        <Card flush>
          <DataTable
            label={t("Functions")}
            columns={withAreas(COLUMNS, AREAS)}
            card={CARD}
            rows={status.data}
            rowId={({ name }) => name}
            rowName={({ name }) => FUNCTIONS[name]?.title ?? name}
            state={status}
            problem={explainIfAny(status.error)}
            isWhole
            empty={
              <EmptyState title={t("Nothing is known")}>
                {t("Nobody told this page which services to ask.")}
              </EmptyState>
            }
          />
        </Card>
      </div>
      <p className={classes.note}>
        {link.state === "live"
          ? t("Your own connection: live prices arrive.")
          : t("Your own connection: no live prices arrive at present.")}
      </p>
    </div>
  );
}
