import { useState } from "react";
import { Amount } from "#lib/components/Amount.tsx";
import { Badge } from "#lib/components/Badge.tsx";
import { ConfirmDialog } from "#lib/components/ConfirmDialog.tsx";
import { copyAndTell } from "#lib/components/CopyText.tsx";
import { type Column, DataTable } from "#lib/components/DataTable.tsx";
import { ShowOlder } from "#lib/components/ShowOlder.tsx";
import { EmptyState } from "#lib/components/states.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import { toastDone } from "#lib/components/toasts.tsx";
import { rich, t } from "#lib/language.ts";
import { returned } from "../api/client.ts";
import { explain, explainIfAny } from "../api/messages.ts";
import { useOnce } from "../api/once.ts";
import { Result } from "./Result.tsx";
import { type Owner, type Position, usePositions } from "./queries.ts";
import { AssetAmount } from "../parts/AssetAmount.tsx";

const quoteOf = (symbol: string) => symbol.split("-")[1] ?? "";
const baseOf = (symbol: string) => symbol.split("-")[0] ?? "";

const COLUMNS: Column<Position>[] = [
  {
    id: "symbol",
    get title() {
      return t("Market");
    },
    cell: ({ symbol }) => <strong>{symbol}</strong>,
  },
  {
    id: "side",
    get title() {
      return t("Side");
    },
    cell: (position) => <Side position={position} />,
  },
  {
    id: "quantity",
    get title() {
      return t("Quantity");
    },
    align: "right",
    cell: ({ quantity, symbol }) => <AssetAmount value={quantity} asset={baseOf(symbol)} />,
  },
  {
    id: "average",
    get title() {
      return t("Average price");
    },
    align: "right",
    cell: ({ averagePrice }) => (averagePrice === null ? "–" : <Amount value={averagePrice} />),
  },
  {
    id: "mark",
    get title() {
      return t("Mark price");
    },
    align: "right",
    cell: ({ markPrice }) => (markPrice === null ? t("no price") : <Amount value={markPrice} />),
  },
  {
    id: "unrealised",
    get title() {
      return t("Unrealised");
    },
    align: "right",
    cell: ({ unrealisedPnl, symbol }) => <Result value={unrealisedPnl} unit={quoteOf(symbol)} />,
  },
  {
    id: "realised",
    get title() {
      return t("Realised");
    },
    align: "right",
    cell: ({ realisedPnl, symbol }) => <Result value={realisedPnl} unit={quoteOf(symbol)} />,
  },
  {
    id: "time",
    get title() {
      return t("Changed");
    },
    cell: ({ updatedAt }) => <TimeText milliseconds={Date.parse(updatedAt)} />,
  },
];

/** Every position with its profit and loss, and the way to close one at its mark price. */
export function PositionList({ owner }: { owner: Owner }) {
  const query = usePositions(owner);
  const [closing, setClosing] = useState<Position | null>(null);
  return (
    <>
      <DataTable
        label={t("Positions")}
        columns={COLUMNS}
        rows={query.data?.pages.flatMap(({ rows }) => rows)}
        rowId={({ symbol }) => symbol}
        rowName={({ symbol }) => symbol}
        actions={(position) => [
          {
            label: t("Close at the mark price"),
            danger: true,
            onClick: () => setClosing(position),
            disabledReason: whyNotClosed(position),
          },
          { label: t("Copy market"), onClick: () => copyAndTell(position.symbol) },
        ]}
        state={query}
        problem={explainIfAny(query.error)}
        empty={
          <EmptyState title={t("No positions yet")}>
            {t(
              "A position begins with a trade that a broker reports for you. Trades on this exchange begin one too, where its operator has switched that on.",
            )}
          </EmptyState>
        }
        footer={<ShowOlder query={query} />}
      />
      {closing && <CloseDialog owner={owner} position={closing} onClose={() => setClosing(null)} />}
    </>
  );
}

function whyNotClosed({ status, markPrice }: Position): string | undefined {
  if (status === "closed") return t("It is closed already");
  return markPrice === null ? t("There is no price to close it at") : undefined;
}

function Side({ position: { quantity, status } }: { position: Position }) {
  if (status === "closed") {
    return (
      <Badge tone="neutral" shape="○">
        {t("Closed")}
      </Badge>
    );
  }
  return quantity.startsWith("-") ? (
    <Badge tone="negative" shape="▼">
      {t("Short")}
    </Badge>
  ) : (
    <Badge tone="positive" shape="▲">
      {t("Long")}
    </Badge>
  );
}

function CloseDialog({
  owner,
  position,
  onClose,
}: {
  owner: Owner;
  position: Position;
  onClose: () => void;
}) {
  const { symbol, quantity, markPrice, updatedAt } = position;
  const close = useOnce(
    (key) =>
      returned(
        owner.positions.POST("/api/pms/positions/{participantId}/{symbol}/close", {
          params: {
            path: { participantId: owner.userId, symbol },
            header: { "Idempotency-Key": key },
          },
        }),
      ),
    {
      reads: [["positions"]],
      onDone: () => {
        toastDone(t("Position closed"), t("{symbol} is flat now.", { symbol }));
        onClose();
      },
      // Each trade of the position makes it another one: the outcome of the request is known by that.
      asking: { place: `closing spot ${owner.userId} ${symbol}`, asked: `${quantity} ${updatedAt}` },
    },
  );
  return (
    <ConfirmDialog
      title={t("Close {symbol}?", { symbol })}
      comparisons={[
        {
          name: t("Quantity"),
          before: <AssetAmount value={quantity} asset={baseOf(symbol)} />,
          after: <Amount value="0" unit={baseOf(symbol)} />,
        },
      ]}
      operator=""
      confirm={close.isUnknown ? t("Ask again what became of it") : t("Close the position")}
      danger
      isBusy={close.isPending}
      problem={close.error ? explain(close.error) : null}
      onConfirm={() => close.mutate()}
      onClose={onClose}
    >
      <p>
        {rich(
          "This books a trade of the whole position at its mark price{now}. It sends no order to the market.",
          {
            now: markPrice !== null && (
              <>
                {rich(", now {markPrice}", {
                  markPrice: <Amount value={markPrice} unit={quoteOf(symbol)} />,
                })}
              </>
            ),
          },
        )}
      </p>
    </ConfirmDialog>
  );
}
