import { Button, SegmentedControl } from "@mantine/core";
import { useId, useState } from "react";
import { Card } from "#lib/components/Card.tsx";
import { ConfirmDialog } from "#lib/components/ConfirmDialog.tsx";
import { DecimalField } from "#lib/components/DecimalField.tsx";
import { toastDone } from "#lib/components/toasts.tsx";
import { formatDecimal } from "#lib/decimal.ts";
import { rich, t } from "#lib/language.ts";
import { floorTo, scaledText, toScaled } from "#lib/scaled.ts";
import { unknownAt } from "../api/attempts.ts";
import { returned, useExchange } from "../api/client.ts";
import { type Market, useMarkets } from "../api/queries.ts";
import { useSession } from "../api/session.ts";
import { PercentButtons } from "../parts/PercentButtons.tsx";
import { Result } from "../positions/Result.tsx";
import { askedOfClosing, quantityOf } from "./asked.ts";
import { closingOf, readPart, whyNotClosed } from "./closing.ts";
import { closingComparisons } from "./closingComparisons.tsx";
import { fairPriceOf, inCents, marksOf, unrealised } from "./figures.ts";
import classes from "./Margin.module.css";
import { closeFault } from "./moves.ts";
import { type MarginAccount, type MarginPosition, useMarginRequest } from "./queries.ts";

const askAgain = () => t("Ask again what became of it");

/** Closes a position, or a part of it, by an order at the market price. */
export function ClosePositionDialog({
  account,
  row,
  onClose,
}: {
  account: MarginAccount;
  /** The position as it was chosen. */
  row: MarginPosition;
  onClose: () => void;
}) {
  const { rest } = useExchange();
  const { session } = useSession();
  const { data: markets = [] } = useMarkets();
  const { positionId, symbol, side } = row;
  const place = `closing ${session?.userId} ${positionId}`;
  // A dialog that was closed while nobody knew the outcome goes on with it.
  const [begun] = useState(() => quantityOf(unknownAt(place) ?? askedOfClosing(null)));
  const [isWhole, setWhole] = useState(begun === null);
  const [text, setText] = useState(begun ?? "");
  // The newest reading of the list counts, not the row that was clicked.
  const position = account.positions.find((known) => known.positionId === positionId) ?? row;
  const market = markets.find((known) => known.symbol === symbol);
  const [base = "", quote = ""] = symbol.split("-");
  const marks = marksOf(account);
  const fairPrice = fairPriceOf(symbol, marks);
  const whole = toScaled(position.quantity);
  const quantity = isWhole ? whole : readPart(text, position, market);
  const part = typeof quantity === "bigint" ? quantity : null;
  const after =
    part === null ? null : closingOf([{ position, quantity: part }], account, market?.takerFee ?? 0);
  const result = part === null ? null : unrealised({ ...position, quantity: scaledText(part) }, fairPrice);
  const request = useMarginRequest(
    (requestId) =>
      returned(
        rest.POST("/api/v1/margin/positions/close", {
          body: { positionId, requestId, ...(isWhole ? {} : { quantity: text.trim() }) },
        }),
      ),
    ({ account: now }) => {
      const left = now.positions.find((known) => known.positionId === positionId);
      // A reason says why less than wanted was traded.
      if (left?.status === "open" && (isWhole || left.reason !== null)) {
        toastDone(
          t("Only a part was traded"),
          t("The rest of the position is still open. Its row says why."),
        );
      } else if (left?.status === "open") {
        toastDone(
          t("A part of the position is closed"),
          t("{quantity} {base} stay open.", { quantity: formatDecimal(left.quantity), base }),
        );
      } else
        toastDone(
          t("Position closed"),
          side === "buy"
            ? t("Your long of {symbol} has ended.", { symbol })
            : t("Your short of {symbol} has ended.", { symbol }),
        );
      onClose();
    },
    { place, asked: askedOfClosing(isWhole ? null : text.trim()) },
  );
  const fault = whyNotClosed(position, account) ?? (typeof quantity === "string" ? quantity : null);
  return (
    <ConfirmDialog
      title={
        side === "buy"
          ? t("Close the long of {symbol}?", { symbol })
          : t("Close the short of {symbol}?", { symbol })
      }
      operator=""
      confirm={request.isUnknown ? askAgain() : isWhole ? t("Close the position") : t("Close this part")}
      danger
      isBusy={request.isPending}
      problem={request.problem}
      missing={request.isUnknown ? [] : [fault ?? false]}
      comparisons={
        // While the outcome is unknown, the figures may be those before or after the order.
        request.isUnknown
          ? []
          : closingComparisons([position], account, part === null ? null : whole - part, after)
      }
      onConfirm={() => request.mutate()}
      onClose={onClose}
    >
      <SegmentedControl
        fullWidth
        aria-label={t("How much")}
        disabled={request.isUnknown}
        data={[
          { value: "whole", label: t("The whole position") },
          { value: "part", label: t("A part") },
        ]}
        value={isWhole ? "whole" : "part"}
        onChange={(value) => setWhole(value === "whole")}
      />
      {!isWhole && (
        <>
          <DecimalField
            label={t("Quantity")}
            value={text}
            disabled={request.isUnknown}
            rightSection={base}
            rightSectionWidth={64}
            onValue={setText}
          />
          <PercentButtons
            of={t("the position")}
            disabled={request.isUnknown}
            onPercent={(percent) => setText(partText(whole, percent, market))}
          />
        </>
      )}
      <p>
        {isWhole
          ? side === "buy"
            ? t(
                "This sells the whole quantity at the market and repays the loan from what the account holds.",
              )
            : t("This buys the whole quantity at the market and repays the loan from what the account holds.")
          : side === "buy"
            ? t("This sells the part at the market and repays the loan from what it brings.")
            : t("This buys the part at the market and gives it back to the lending pool.")}{" "}
        {result === null
          ? t("There is no price that tells the result.")
          : rich("At the fair price the result is {result}, before fees and interest.", {
              result: <Result value={inCents(result)} unit={quote} />,
            })}{" "}
        {t("A thin market gives a worse price; what finds nobody to trade with stays open.")}
      </p>
    </ConfirmDialog>
  );
}

/** So many percent of a position, in whole steps of its market. */
function partText(whole: bigint, percent: bigint, market: Market | undefined): string {
  const part = (whole * percent) / 100n;
  return scaledText(percent === 100n || !market ? part : floorTo(part, toScaled(market.lotSize)));
}

/** Closes the account, which must be empty; says what stands in the way. */
export function CloseAccount({ account }: { account: MarginAccount }) {
  const { rest } = useExchange();
  const hint = useId();
  const [asks, setAsks] = useState(false);
  const fault = closeFault(account);
  const request = useMarginRequest(
    // The route takes no body, so the key of the attempt is sent in a header.
    (requestId) =>
      returned(
        rest.POST("/api/v1/margin/account/close", { params: { header: { "Idempotency-Key": requestId } } }),
      ),
    () => toastDone(t("Margin account closed"), t("The next collateral that you move in opens a new one.")),
  );
  return (
    <Card title={t("Close the account")}>
      <div className={classes.closing}>
        <p id={hint} className={classes.text}>
          {fault === null
            ? t("It is empty, so it can be closed. You can open another one at any time.")
            : t("Only an empty account can be closed: {fault}.", { fault })}
        </p>
        <Button
          size="xs"
          variant="default"
          disabled={fault !== null}
          aria-describedby={hint}
          onClick={() => setAsks(true)}
        >
          {t("Close the account…")}
        </Button>
      </div>
      {asks && (
        <ConfirmDialog
          title={t("Close your margin account?")}
          operator=""
          confirm={request.isUnknown ? askAgain() : t("Close the account")}
          danger
          isBusy={request.isPending}
          problem={request.problem}
          onConfirm={() => request.mutate()}
          onClose={() => setAsks(false)}
        >
          <p>{t("Past positions and ended loans of this account are then no longer shown here.")}</p>
        </ConfirmDialog>
      )}
    </Card>
  );
}
