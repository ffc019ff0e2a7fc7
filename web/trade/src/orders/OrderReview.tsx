import { ConfirmDialog } from "#lib/components/ConfirmDialog.tsx";
import { WarningNote } from "#lib/components/states.tsx";
import { placesOf, formatDecimal } from "#lib/decimal.ts";
import { scaledText } from "#lib/scaled.ts";
import type { Problem } from "#lib/components/states.tsx";
import { hasLimit, isConditional } from "../api/orderKinds.ts";
import type { Market } from "../api/queries.ts";
import { AssetAmount } from "../parts/AssetAmount.tsx";
import { typeName } from "./labels.tsx";
import type { Draft, Review } from "./review.ts";

/** The last question before an order is sent: what it waits for, and what it holds until then. */
export default function OrderReview({
  market,
  draft,
  found,
  sentence,
  action,
  isBusy,
  problem,
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
  problem: Problem | null;
  onConfirm: () => void;
  onClose: () => void;
}) {
  const { baseAsset, quoteAsset, symbol } = market;
  const { estimate } = found;
  const isBuy = draft.side === "buy";
  const word = isBuy ? "Buy" : "Sell";
  const waits = isConditional(draft.type);
  return (
    <ConfirmDialog
      title={
        found.needsWord ? `${word} far from the market?` : `${typeName(draft.type)}: ${word.toLowerCase()}?`
      }
      typed={found.needsWord ? symbol : ""}
      operator=""
      confirm={action}
      danger={found.needsWord}
      isBusy={isBusy}
      problem={problem}
      missing={[found.blocked !== null && "close this and correct the order"]}
      onConfirm={onConfirm}
      onClose={onClose}
    >
      {found.warnings.map((warning) => (
        <WarningNote key={warning}>{warning}</WarningNote>
      ))}
      {sentence !== "" && <p>{sentence}</p>}
      {estimate && waits && (
        <p>
          Then it {isBuy ? "buys" : "sells"}{" "}
          <AssetAmount value={scaledText(estimate.quantity)} asset={baseAsset} />
          {hasLimit(draft.type)
            ? ` at ${formatDecimal(draft.price.trim(), placesOf(market.tickSize))} ${quoteAsset} or better`
            : " at the best prices of the book"}
          . Until then{" "}
          {isBuy ? (
            <AssetAmount value={scaledText(estimate.held)} asset={quoteAsset} />
          ) : (
            <AssetAmount value={scaledText(estimate.quantity)} asset={baseAsset} />
          )}{" "}
          {isBuy ? "are held for it, the fee included." : "are held for it."}
        </p>
      )}
      {estimate && !waits && (
        <p>
          You {isBuy ? "pay at most" : "receive about"}{" "}
          <AssetAmount value={scaledText(isBuy ? estimate.held : estimate.total)} asset={quoteAsset} /> for{" "}
          <AssetAmount value={scaledText(estimate.quantity)} asset={baseAsset} />.
        </p>
      )}
    </ConfirmDialog>
  );
}
