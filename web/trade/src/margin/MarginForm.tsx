import { Button, Checkbox } from "@mantine/core";
import { memo, useState } from "react";
import { Link } from "wouter";
import { EmptyState, ErrorState, WarningNote } from "#lib/components/states.tsx";
import { t } from "#lib/language.ts";
import { useLink } from "../api/live.ts";
import type { Market } from "../api/queries.ts";
import orderForm from "../orders/OrderForm.module.css";
import { Loading } from "../parts/Loading.tsx";
import { PageLink } from "../parts/PageLink.tsx";
import { positionsIn } from "./lines.ts";
import classes from "./Margin.module.css";
import type { OpeningDraft } from "./opening.ts";
import { OpeningForm } from "./OpeningForm.tsx";
import { type MarginAccount, useMarginAccount, useMarginPushes } from "./queries.ts";
import { ReducingForm } from "./ReducingForm.tsx";
import { explainMargin } from "./refusals.ts";

interface MarginFormProps {
  market: Market;
  /** The side is that of the order form, so that keys and buttons of the page reach it. */
  side: "buy" | "sell";
  onSide: (side: "buy" | "sell") => void;
  /** A position was opened, or positions were made smaller. */
  onPlaced: (() => void) | undefined;
}

export default memo(MarginForm);

/**
 * Opens margin positions on the trading screen. It takes nothing of the book, so it is not drawn again when that changes.
 */
function MarginForm({ market, side, onSide, onPlaced }: MarginFormProps) {
  const { data: account, error, refetch } = useMarginAccount();
  useMarginPushes();
  const { symbol } = market;
  if (account)
    return <Form key={symbol} {...{ market, side, onSide, onPlaced, account, isOld: error !== null }} />;
  if (account === null) {
    return (
      <div className={orderForm.form}>
        <EmptyState
          title={t("You have no margin account yet")}
          action={
            <Button component={Link} href="/margin" variant="default">
              {t("Open a margin account")}
            </Button>
          }
        >
          {t(
            "Margin is trading with borrowed money: gains and losses grow alike. Move collateral into an account of its own first; the page Margin says what it costs and what can go wrong.",
          )}
        </EmptyState>
      </div>
    );
  }
  if (error) return <ErrorState problem={explainMargin(error)} onRetry={() => void refetch()} />;
  return <Loading what={t("your margin account")} />;
}

function Form({
  market,
  account,
  side,
  onSide,
  onPlaced,
  isOld,
}: MarginFormProps & { account: MarginAccount; isOld: boolean }) {
  const link = useLink();
  const [draft, setDraft] = useState({ quantity: "", leverage: "2" });
  const [isReduceOnly, setReduceOnly] = useState(false);
  const isMore = positionsIn(market.symbol, account).some((position) => position.side === side);
  const change = ({ side: next, ...changes }: Partial<OpeningDraft>) => {
    if (next !== undefined) onSide(next);
    setDraft((before) => ({ ...before, ...changes }));
  };
  const options = (
    <Checkbox
      size="xs"
      label={t("Reduce only")}
      description={t("Closes positions of the other side, the oldest first, and opens none.")}
      checked={isReduceOnly}
      onChange={(event) => setReduceOnly(event.currentTarget.checked)}
    />
  );
  const oldPrices = (isOld || link.state !== "live") && (
    <WarningNote>
      {t("The prices on this page are old: the connection to the exchange is broken.")}
    </WarningNote>
  );
  const form = { market, account, draft: { ...draft, side }, onDraft: change, onPlaced, options };
  return (
    <div className={classes.onScreen}>
      {isReduceOnly ? (
        <ReducingForm {...form} notes={oldPrices} />
      ) : (
        <OpeningForm
          {...form}
          notes={
            <>
              {isMore && (
                <p className={classes.note}>
                  {t(
                    "You have a position of this side already. This one adds to it, with a loan of its own.",
                  )}
                </p>
              )}
              {oldPrices}
            </>
          }
        />
      )}
      <PageLink href="/margin">{t("Account, loans and collateral")}</PageLink>
    </div>
  );
}
