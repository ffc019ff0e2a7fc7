import { type ReactNode, useState } from "react";
import { Amount } from "#lib/components/Amount.tsx";
import { copyAndTell } from "#lib/components/CopyText.tsx";
import { type Column, DataTable, type ListState } from "#lib/components/DataTable.tsx";
import { EmptyState, type Problem } from "#lib/components/states.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import { formatDecimal } from "#lib/decimal.ts";
import { t } from "#lib/language.ts";
import { scaledText, toScaled } from "#lib/scaled.ts";
import { Result } from "../positions/Result.tsx";
import { ClosePositionDialog } from "./CloseDialogs.tsx";
import { whyNotClosed } from "./closing.ts";
import type { Move } from "./asked.ts";
import { CollateralDialog } from "./CollateralDialog.tsx";
import {
  fairPriceOf,
  holdingsOf,
  inCents,
  isUnderWay,
  liquidationPrice,
  type Marks,
  readablePrice,
  unrealised,
} from "./figures.ts";
import classes from "./Margin.module.css";
import type { MarginAccount, MarginPosition } from "./queries.ts";
import { PositionState, Side } from "./states.tsx";
import { AssetAmount } from "../parts/AssetAmount.tsx";
import { Said } from "../parts/Said.tsx";

interface PositionListProps {
  account: MarginAccount;
  marks: Marks;
  /** The market whose positions are listed; without one those of all. */
  only?: string | undefined;
  isEnded: boolean;
  toolbar: ReactNode;
  state: ListState;
  problem: Problem | null;
}

const halves = (symbol: string) => {
  const [base = "", quote = ""] = symbol.split("-");
  return { base, quote };
};

const SIDE: Column<MarginPosition> = {
  id: "side",
  get title() {
    return t("Side");
  },
  cell: ({ side, leverage }) => (
    <span className={classes.side}>
      <Side side={side} />
      <span className="figures">{formatDecimal(shortest(leverage))} ×</span>
    </span>
  ),
};
const ENTRY: Column<MarginPosition> = {
  id: "entry",
  get title() {
    return t("Entry price");
  },
  align: "right",
  cell: ({ entryPrice }) =>
    entryPrice === null ? "–" : <Amount value={readablePrice(toScaled(entryPrice))} places={2} />,
};
const STATE: Column<MarginPosition> = {
  id: "state",
  get title() {
    return t("State");
  },
  cell: (position) => <StateOf position={position} />,
};
const ENDED: Column<MarginPosition>[] = [
  {
    id: "symbol",
    get title() {
      return t("Market");
    },
    cell: ({ symbol }) => <strong>{symbol}</strong>,
  },
  SIDE,
  ENTRY,
  STATE,
  {
    id: "opened",
    get title() {
      return t("Opened");
    },
    cell: ({ openedAt }) => <TimeText milliseconds={Date.parse(openedAt)} />,
  },
  {
    id: "closed",
    get title() {
      return t("Ended");
    },
    cell: ({ closedAt }) => (closedAt === null ? "–" : <TimeText milliseconds={Date.parse(closedAt)} />),
  },
];

/** The positions that run or those that have ended, and the way to close one. */
export function PositionList({ account, marks, only, isEnded, toolbar, state, problem }: PositionListProps) {
  const [closing, setClosing] = useState<MarginPosition | null>(null);
  const [move, setMove] = useState<Move | null>(null);
  const holdings = holdingsOf(account.balances);
  const open: Column<MarginPosition>[] = [
    {
      id: "symbol",
      title: t("Market, opened"),
      cell: (position) => (
        <>
          <strong>{position.symbol}</strong>
          <span className={classes.since}>
            <TimeText milliseconds={Date.parse(position.openedAt)} />
          </span>
          {isMoving(position) && (
            <span className={classes.moving}>
              <StateOf position={position} />
            </span>
          )}
        </>
      ),
    },
    SIDE,
    {
      id: "quantity",
      title: t("Quantity"),
      align: "right",
      cell: ({ quantity, symbol }) => <AssetAmount value={quantity} asset={halves(symbol).base} />,
    },
    {
      id: "result",
      title: t("Unrealised"),
      align: "right",
      cell: (position) => {
        const value = unrealised(position, fairPriceOf(position.symbol, marks));
        const { quote } = halves(position.symbol);
        return <Result value={value === null ? null : inCents(value)} unit={quote} />;
      },
    },
    ENTRY,
    {
      id: "fair",
      title: t("Fair price"),
      align: "right",
      cell: ({ symbol }) => {
        const price = fairPriceOf(symbol, marks);
        return price === null ? t("no price") : <Amount value={readablePrice(price)} places={2} />;
      },
    },
    {
      id: "liquidation",
      title: t("Liquidated near"),
      align: "right",
      isPinned: true,
      cell: ({ symbol }) => {
        const { base, quote } = halves(symbol);
        const price = liquidationPrice(holdings, marks, base, quote);
        return price === null ? "–" : <Amount value={readablePrice(price)} places={2} />;
      },
    },
    {
      id: "margin",
      title: t("Margin"),
      align: "right",
      cell: ({ requiredMargin }) => (
        <Amount value={inCents(toScaled(requiredMargin))} unit={account.valuationAsset} places={2} />
      ),
    },
  ];
  return (
    <>
      <DataTable
        label={isEnded ? t("Past positions") : t("Open positions")}
        toolbar={toolbar}
        columns={isEnded ? ENDED : open}
        rows={account.positions.filter(
          (position) => isUnderWay(position) !== isEnded && (only ?? position.symbol) === position.symbol,
        )}
        rowId={({ positionId }) => positionId}
        rowName={({ symbol, side }) =>
          side === "buy" ? t("the long of {symbol}", { symbol }) : t("the short of {symbol}", { symbol })
        }
        actions={(position) => [
          {
            label: t("Close the position…"),
            danger: true,
            onClick: () => setClosing(position),
            disabledReason: whyNotClosed(position, account) ?? undefined,
          },
          ...(isEnded
            ? []
            : [
                {
                  label: t("Add collateral…"),
                  onClick: () => setMove({ direction: "in", asset: halves(position.symbol).quote }),
                },
              ]),
          { label: t("Copy id"), onClick: () => copyAndTell(position.positionId) },
        ]}
        state={state}
        problem={problem}
        empty={
          isEnded ? (
            <EmptyState title={t("No past positions")}>
              {t("What is closed or liquidated stays listed here.")}
            </EmptyState>
          ) : (
            <EmptyState title={t("No open positions")}>
              {t("Choose a market, a quantity and a leverage in the form: the position appears here.")}
            </EmptyState>
          )
        }
      />
      {closing && <ClosePositionDialog account={account} row={closing} onClose={() => setClosing(null)} />}
      {move && <CollateralDialog account={account} first={move} onClose={() => setMove(null)} />}
    </>
  );
}

function shortest(text: string): string {
  return scaledText(toScaled(text));
}

/** Whether the position has a state to show: it is not open, or the exchange gave a reason. */
function isMoving({ status, reason }: MarginPosition): boolean {
  return status !== "open" || reason !== null;
}

/** The reason of a position whose loan was refused; others are sentences already. */
const REFUSED = "refused";

/** The state, with the reason if the exchange gave one: an order that found too little to trade with, for instance. */
function StateOf({ position: { status, reason } }: { position: MarginPosition }) {
  return (
    <span>
      <PositionState status={status} />
      {reason !== null && (
        <span className={classes.reason}>
          {reason === REFUSED ? t("the lending pool was empty") : <Said reason={reason} />}
        </span>
      )}
    </span>
  );
}
