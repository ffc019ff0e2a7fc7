import { Button } from "@mantine/core";
import { useId, useState } from "react";
import { Amount } from "#lib/components/Amount.tsx";
import { Card } from "#lib/components/Card.tsx";
import { ConfirmDialog } from "#lib/components/ConfirmDialog.tsx";
import { toastDone } from "#lib/components/toasts.tsx";
import { rich, t } from "#lib/language.ts";
import { returned, useExchange } from "../api/client.ts";
import { Result } from "../positions/Result.tsx";
import { inCents, unrealised } from "./figures.ts";
import classes from "./Margin.module.css";
import { closeFault } from "./moves.ts";
import { type MarginAccount, type MarginLoan, type MarginPosition, useMarginRequest } from "./queries.ts";
import { AssetAmount } from "../parts/AssetAmount.tsx";

const askAgain = () => t("Ask again what became of it");

/** Closes a position by an order at the market price. */
export function ClosePositionDialog({
  position,
  loan,
  fairPrice,
  onClose,
}: {
  position: MarginPosition;
  loan: MarginLoan | undefined;
  fairPrice: bigint | null;
  onClose: () => void;
}) {
  const { rest } = useExchange();
  const { positionId, symbol, quantity, side } = position;
  const [base = "", quote = ""] = symbol.split("-");
  const result = unrealised(position, fairPrice);
  const request = useMarginRequest(
    (requestId) => returned(rest.POST("/api/v1/margin/positions/close", { body: { positionId, requestId } })),
    ({ account }) => {
      const after = account.positions.find((known) => known.positionId === positionId);
      if (after?.status === "open") {
        toastDone(
          t("Only a part was traded"),
          t("The rest of the position is still open. Its row says why."),
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
  );
  return (
    <ConfirmDialog
      title={
        side === "buy"
          ? t("Close the long of {symbol}?", { symbol })
          : t("Close the short of {symbol}?", { symbol })
      }
      operator=""
      confirm={request.isUnknown ? askAgain() : t("Close the position")}
      danger
      isBusy={request.isPending}
      problem={request.problem}
      comparisons={[
        {
          name: t("Quantity"),
          before: <AssetAmount value={quantity} asset={base} />,
          after: <Amount value="0" unit={base} />,
        },
        ...(loan
          ? [
              {
                name: t("Its loan"),
                before: <AssetAmount value={loan.outstanding} asset={loan.asset} />,
                after: <Amount value="0" unit={loan.asset} />,
              },
            ]
          : []),
      ]}
      onConfirm={() => request.mutate()}
      onClose={onClose}
    >
      <p>
        {side === "buy"
          ? t("This sells the whole quantity at the market and repays the loan from what the account holds.")
          : t(
              "This buys the whole quantity at the market and repays the loan from what the account holds.",
            )}{" "}
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
