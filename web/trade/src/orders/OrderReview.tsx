import { ConfirmDialog } from "#lib/components/ConfirmDialog.tsx";
import { WarningNote } from "#lib/components/states.tsx";
import { placesOf, formatDecimal } from "#lib/decimal.ts";
import { inSentence, rich, t } from "#lib/language.ts";
import { scaledText } from "#lib/scaled.ts";
import { hasLimit, isConditional } from "../api/orderKinds.ts";
import type { Market } from "../api/queries.ts";
import { AssetAmount } from "../parts/AssetAmount.tsx";
import { typeName } from "./labels.ts";
import { listSentences } from "./lists.ts";
import { explainOrder } from "./refusals.ts";
import type { Draft, Review } from "./draft.ts";

/** The last question before an order is sent: what it waits for, and what it holds until then. */
export default function OrderReview({
  market,
  draft,
  found,
  sentence,
  action,
  isBusy,
  error,
  onConfirm,
  onClose,
}: {
  market: Market;
  draft: Draft;
  found: Review;
  /** When the order fires; empty for one that waits for nothing. */
  sentence: string;
  action: string;
  isBusy: boolean;
  /** Why the exchange did not take it; null before it was asked. */
  error: Error | null;
  onConfirm: () => void;
  onClose: () => void;
}) {
  const { baseAsset, quoteAsset, symbol } = market;
  const { estimate } = found;
  const isBuy = draft.side === "buy";
  const word = isBuy ? t("Buy") : t("Sell");
  const waits = isConditional(draft.type);
  const where = hasLimit(draft.type)
    ? t("at {price} {quoteAsset} or better", {
        price: formatDecimal(draft.price.trim(), placesOf(market.tickSize)),
        quoteAsset,
      })
    : t("at the best prices of the book");
  return (
    <ConfirmDialog
      title={
        found.needsWord
          ? isBuy
            ? t("Buy far from the market?")
            : t("Sell far from the market?")
          : `${typeName(draft.isOco ? "OCO" : draft.type)}: ${inSentence(word)}?`
      }
      typed={found.needsWord ? symbol : ""}
      operator=""
      confirm={action}
      danger={found.needsWord}
      isBusy={isBusy}
      problem={error ? explainOrder(error) : null}
      missing={[found.blocked !== null && t("close this and correct the order")]}
      onConfirm={onConfirm}
      onClose={onClose}
    >
      {found.warnings.map((warning) => (
        <WarningNote key={warning}>{warning}</WarningNote>
      ))}
      {sentence !== "" && <p>{sentence}</p>}
      {found.list && (
        <ul>
          {listSentences(found.list, market).map((text) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      )}
      {estimate && waits && (
        <p>
          {isBuy
            ? rich("Then it buys {quantity} {where}. Until then {held} are held for it, the fee included.", {
                quantity: <AssetAmount value={scaledText(estimate.quantity)} asset={baseAsset} />,
                where,
                held: <AssetAmount value={scaledText(estimate.held)} asset={quoteAsset} />,
              })
            : rich("Then it sells {quantity} {where}. Until then {held} are held for it.", {
                quantity: <AssetAmount value={scaledText(estimate.quantity)} asset={baseAsset} />,
                where,
                held: <AssetAmount value={scaledText(estimate.quantity)} asset={baseAsset} />,
              })}
        </p>
      )}
      {estimate && draft.isOco && (
        <p>
          {rich("Until one of them has filled it, {held} are held once for both.", {
            held: (
              <AssetAmount
                value={scaledText(isBuy ? estimate.held : estimate.quantity)}
                asset={isBuy ? quoteAsset : baseAsset}
              />
            ),
          })}
        </p>
      )}
      {estimate && !waits && !draft.isOco && (
        <p>
          {isBuy
            ? rich("You pay at most {amount} for {quantity}.", {
                amount: <AssetAmount value={scaledText(estimate.held)} asset={quoteAsset} />,
                quantity: <AssetAmount value={scaledText(estimate.quantity)} asset={baseAsset} />,
              })
            : rich("You receive about {amount} for {quantity}.", {
                amount: <AssetAmount value={scaledText(estimate.total)} asset={quoteAsset} />,
                quantity: <AssetAmount value={scaledText(estimate.quantity)} asset={baseAsset} />,
              })}
        </p>
      )}
    </ConfirmDialog>
  );
}
