import { useRef } from "react";
import { ConfirmDialog } from "#lib/components/ConfirmDialog.tsx";
import { toastDone } from "#lib/components/toasts.tsx";
import { formatDecimal } from "#lib/decimal.ts";
import { rich, t } from "#lib/language.ts";
import { scaledText, toScaled } from "#lib/scaled.ts";
import { returned, useExchange } from "../api/client.ts";
import type { Market } from "../api/queries.ts";
import { useSession } from "../api/session.ts";
import { AssetAmount } from "../parts/AssetAmount.tsx";
import { closingOf } from "./closing.ts";
import { closingComparisons } from "./closingComparisons.tsx";
import { type MarginAccount, useMarginRequest } from "./queries.ts";
import { type ReducingDraft, reducible, reviewReducing } from "./reducing.ts";

/** Asks the user to confirm a reduce-only order. It shows the newest reading of the account. */
export function ReduceDialog({
  market,
  account,
  draft,
  onDone,
  onClose,
}: {
  market: Market;
  account: MarginAccount;
  draft: ReducingDraft;
  onDone: () => void;
  onClose: () => void;
}) {
  const { rest } = useExchange();
  const { session } = useSession();
  const { symbol, baseAsset: base } = market;
  const { side } = draft;
  const { blocked, open, parts } = reviewReducing(draft, market, account);
  const closed = parts.reduce((sum, { quantity }) => sum + quantity, 0n);
  const quantity = draft.quantity.trim();
  const touched = useRef<ReadonlySet<string>>(new Set());
  const request = useMarginRequest(
    (requestId) =>
      returned(rest.POST("/api/v1/margin/positions/reduce", { body: { symbol, side, quantity, requestId } })),
    ({ account: now }) => {
      const still = reducible(symbol, side, now);
      const left = still.reduce((sum, each) => sum + toScaled(each.quantity), 0n);
      // A reason says why less than wanted was traded.
      const isLess = still.some(
        ({ positionId, reason }) => reason !== null && touched.current.has(positionId),
      );
      toastDone(
        isLess ? t("Only a part was traded") : t("Positions reduced"),
        left === 0n
          ? t("Nothing of them is open any more.")
          : t("{quantity} {base} stay open.", { quantity: formatDecimal(scaledText(left)), base }),
      );
      onDone();
      onClose();
    },
    { place: `reducing ${session?.userId} ${symbol}`, asked: `${side} ${quantity}` },
  );
  const words = { quantity: <AssetAmount value={scaledText(closed)} asset={base} /> };
  return (
    <ConfirmDialog
      title={t("{actionOf} of {symbol}?", { actionOf: reducingAction(side), symbol })}
      operator=""
      confirm={request.isUnknown ? t("Ask again what became of it") : reducingAction(side)}
      danger
      isBusy={request.isPending}
      problem={request.problem}
      missing={[!request.isUnknown && blocked !== null && t("close this and correct the form")]}
      comparisons={
        // While the outcome is unknown, the figures may be those before or after the order.
        request.isUnknown
          ? []
          : closingComparisons(
              reducible(symbol, side, account),
              account,
              parts.length === 0 ? null : open - closed,
              closingOf(parts, account, market.takerFee),
            )
      }
      onConfirm={() => {
        if (!request.isUnknown) {
          const reached = parts.filter((part) => part.quantity > 0n);
          touched.current = new Set(reached.map(({ position }) => position.positionId));
        }
        request.mutate();
      }}
      onClose={onClose}
    >
      <p>
        {side === "sell"
          ? rich("You sell {quantity} of your longs at the market, the oldest position first.", words)
          : rich(
              "You buy {quantity} of your shorts back at the market, the oldest position first.",
              words,
            )}{" "}
        {t("A thin market gives a worse price; what finds nobody to trade with stays open.")}
      </p>
    </ConfirmDialog>
  );
}

/** The words of the button. */
export function reducingAction(side: ReducingDraft["side"]): string {
  return side === "sell" ? t("Reduce the longs") : t("Reduce the shorts");
}
