import { ConfirmDialog } from "#lib/components/ConfirmDialog.tsx";
import { WarningNote } from "#lib/components/states.tsx";
import { toastDone } from "#lib/components/toasts.tsx";
import { formatDecimal } from "#lib/decimal.ts";
import { rich, t } from "#lib/language.ts";
import { returned, useExchange } from "../api/client.ts";
import { useSession } from "../api/session.ts";
import { AssetAmount } from "../parts/AssetAmount.tsx";
import type { OpeningBody, OpeningEstimate } from "./opening.ts";
import { OpeningFigures } from "./OpeningFigures.tsx";
import { type MarginAccount, useMarginRequest } from "./queries.ts";

/** Asks the user to confirm. While the outcome is unknown, who opens it again for the same position asks for it once. */
export function OpenDialog({
  body,
  estimate,
  account,
  blocked,
  onDone,
  onClose,
}: {
  body: OpeningBody;
  estimate: OpeningEstimate;
  account: MarginAccount;
  blocked: string | null;
  onDone: () => void;
  onClose: () => void;
}) {
  const { rest } = useExchange();
  const { session } = useSession();
  const { symbol, side, quantity, leverage } = body;
  const [base = "", quote = ""] = symbol.split("-");
  const isBuy = side === "buy";
  const words = {
    quantity: <AssetAmount value={quantity} asset={base} />,
    leverage: formatDecimal(leverage),
  };
  const request = useMarginRequest(
    (requestId) => returned(rest.POST("/api/v1/margin/positions", { body: { ...body, requestId } })),
    ({ account: after, positionId }) => {
      const opened = after.positions.find((known) => known.positionId === positionId);
      toastDone(
        isBuy ? t("Long of {symbol} opened", { symbol }) : t("Short of {symbol} opened", { symbol }),
        opened?.entryPrice &&
          t("{quantity} {base} at {entryPrice} {quote} on average", {
            quantity: formatDecimal(opened.quantity),
            base,
            entryPrice: formatDecimal(opened.entryPrice),
            quote,
          }),
      );
      onDone();
      onClose();
    },
    { place: `opening ${session?.userId} ${symbol}`, asked: JSON.stringify(body) },
  );
  return (
    <ConfirmDialog
      title={t("{actionOf} of {symbol}?", { actionOf: openingAction(side), symbol })}
      operator=""
      confirm={request.isUnknown ? t("Ask again what became of it") : openingAction(side)}
      isBusy={request.isPending}
      problem={request.problem}
      missing={[!request.isUnknown && blocked !== null && t("close this and correct the form")]}
      onConfirm={() => request.mutate()}
      onClose={onClose}
    >
      <p>
        {isBuy
          ? rich("You buy {quantity} at the market, at {leverage} times leverage.", words)
          : rich("You sell {quantity} at the market, at {leverage} times leverage.", words)}
      </p>
      <OpeningFigures side={side} estimate={estimate} account={account} quote={quote} />
      <WarningNote>
        {t(
          "If the price goes against you, you can lose all that is in the margin account. At a level of 105 % the exchange closes the position by itself.",
        )}
      </WarningNote>
    </ConfirmDialog>
  );
}

/** The words of the button. */
export function openingAction(side: OpeningBody["side"]): string {
  return side === "buy" ? t("Open a long") : t("Open a short");
}
