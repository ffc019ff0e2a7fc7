import { Button } from "@mantine/core";
import { memo, type ReactNode, useCallback, useEffect, useId, useMemo, useRef, useState } from "react";
import { late, MissingDialog, MissingSign, tellMissing } from "#lib/components/late.tsx";
import { ProblemNote, WarningNote } from "#lib/components/states.tsx";
import { formatDecimal, placesOf } from "#lib/decimal.ts";
import { inSentence, rich, t } from "#lib/language.ts";
import { percentFigure, percentOfBps } from "#lib/rates.ts";
import { scaledText } from "#lib/scaled.ts";
import { Link } from "wouter";
import { useLink } from "../api/live.ts";
import { explain } from "../api/messages.ts";
import { type Balance, type Market, type Ticker, useTradingRules } from "../api/queries.ts";
import { useSession } from "../api/session.ts";
import { Panel } from "../market/Panel.tsx";
import type { BookState } from "../stream/feeds.ts";
import classes from "./OrderForm.module.css";
import { OrderFields } from "./OrderFields.tsx";
import type { Conditional } from "./TypeMenu.tsx";
import { AssetAmount } from "../parts/AssetAmount.tsx";
import { isConditional } from "../api/orderKinds.ts";
import { askedOf } from "./asked.ts";
import { useHabits, useOneClick } from "./habits.ts";
import { kindOf, typeName } from "./labels.ts";
import { offerOf } from "./offer.ts";
import { loadOutcome, usePlaceOrder } from "./placing.ts";
import { useReferenceMarket } from "./reference.ts";
import { type Draft, type Estimate, isList, type Review } from "./draft.ts";
import { review, slides, stepped, unready } from "./review.ts";

const OneClickLock = late(() => import("./OneClickLock.tsx"), { Missing: MissingSign });
const OrderReview = late(() => import("./OrderReview.tsx"), { Missing: MissingDialog });
const DepositDialog = late(
  () => import("../deposits/DepositDialog.tsx").then((loaded) => ({ default: loaded.DepositDialog })),
  { Missing: MissingDialog },
);
const Refused = late(() => import("./Refused.tsx"), { Missing: RefusedBriefly });
const loadFunds = () => import("./funds.ts");
/** What an order's response needs is there before the order is sent: the connection may be gone by then. */
const loadAhead = () =>
  void Promise.all([
    OrderReview.loadAhead(),
    Refused.loadAhead(),
    loadFunds().catch(() => undefined),
    loadOutcome().catch(() => undefined),
  ]);

/** Why an order was not placed, in the words that the page has already. */
function RefusedBriefly({ error }: { error: unknown }) {
  return <ProblemNote problem={explain(error)} />;
}
const NO_SIZES: readonly string[] = [];
const ZERO = /^0(\.0+)?$/;

interface OrderFormProps {
  market: Market;
  ticker: Ticker | undefined;
  state: BookState;
  balances: readonly Balance[] | undefined;
  draft: Draft;
  onDraft: (changes: Partial<Draft>) => void;
  /** What stands beside the title. */
  tools?: ReactNode;
  /** An order was placed. */
  onPlaced?: () => void;
}

/** Buys or sells. Everything that the order would do is said before it is sent, and why it cannot be. */
export const OrderForm = memo(function OrderForm({
  market,
  ticker,
  state,
  balances,
  draft,
  onDraft,
  tools,
  onPlaced,
}: OrderFormProps) {
  const { session } = useSession();
  const { data: rules } = useTradingRules();
  const link = useLink();
  const hint = useId();
  const [asks, setAsks] = useState(false);
  const [deposited, setDeposited] = useState<string | null>(null);
  const [conditional, setConditional] = useState<Conditional | null>(null);
  const loadConditional = useCallback(
    () =>
      import("./conditionalParts.tsx").then(
        (parts) => {
          setConditional(parts);
          return true;
        },
        () => {
          tellMissing();
          return false;
        },
      ),
    [],
  );
  const offer = useMemo(() => offerOf(rules), [rules]);
  const userId = session?.userId;
  const habits = useHabits(userId);
  const isOneClick = useOneClick(userId);
  const { symbol, baseAsset, quoteAsset } = market;
  const free = (asset: string) => balances?.find((balance) => balance.asset === asset)?.available ?? "0";
  const available = balances ? { base: free(baseAsset), quote: free(quoteAsset) } : null;
  const lastPrice = ticker?.lastPrice ?? null;
  const facts = { market: useReferenceMarket(market), book: state.book, lastPrice, available };
  const { type } = draft;
  const waiting = isConditional(type) ? { ...draft, type } : null;
  const isPlain = waiting === null && !isList(draft);
  // The draft outlives this form: another window width, or a look at margin, mounts it anew.
  useEffect(() => {
    if (!isPlain && conditional === null) void loadConditional();
  }, [isPlain, conditional, loadConditional]);
  const found: Review = isPlain
    ? review(draft, facts)
    : ((waiting ? conditional?.reviewConditional(waiting, facts) : conditional?.reviewList(draft, facts)) ??
      unready(t("The form is on its way.")));
  const sentence =
    waiting && conditional && found.body
      ? conditional.triggerSentence(conditional.draftTerms(waiting, facts), market.quoteAsset)
      : "";
  const needsReview = found.needsWord || (!isPlain && !isOneClick);
  const placing = usePlaceOrder(userId, symbol, () => {
    setAsks(false);
    onDraft({ amount: "" });
    onPlaced?.();
  });
  const faults = useSame(found.faults);
  const isBuy = draft.side === "buy";
  const named = { asset: baseAsset, type: draft.isOco ? "OCO" : inSentence(typeName(type)) };
  const action = isBuy ? t("Buy {asset}, {type}", named) : t("Sell {asset}, {type}", named);
  const isOld = state.book !== null && (!state.isCurrent || link.state !== "live");
  const blocked = found.blocked ?? (available === null ? t("Your balances are on their way.") : null);
  const newest = useRef({ ...facts, draft });
  useEffect(() => {
    newest.current = { ...facts, draft };
  });
  const step = useCallback(
    (before: Draft, field: "price" | "amount", by: bigint) => {
      const isUnset = before[field] === "" && field === "price";
      const size = field === "amount" && before.unit === "base" ? market.lotSize : market.tickSize;
      onDraft({ [field]: stepped(isUnset ? (newest.current.lastPrice ?? "") : before[field], size, by) });
    },
    [market, onDraft],
  );
  const takePart = useCallback(
    (before: Draft, percent: bigint) => {
      void loadFunds().then(({ partOfFunds }) => {
        const amount = partOfFunds(before, newest.current, percent);
        // What was changed meanwhile is another order.
        if (amount !== null && newest.current.draft === before) onDraft({ amount });
      }, tellMissing);
    },
    [onDraft],
  );
  const send = () => {
    const body = found.list ?? found.body;
    if (body) placing.place({ asked: askedOf(draft, body), body });
  };

  return (
    <Panel title={t("Order")} tools={tools}>
      <form
        className={classes.form}
        aria-label={t("Order form")}
        noValidate
        onFocus={loadAhead}
        onSubmit={(event) => {
          event.preventDefault();
          if (blocked !== null || placing.isPending) return;
          if (needsReview) setAsks(true);
          else send();
        }}
      >
        <OrderFields
          market={market}
          offer={offer}
          draft={draft}
          conditional={conditional}
          faults={faults}
          hasFunds={available !== null}
          sizes={habits.sizes[symbol] ?? NO_SIZES}
          isUser={session !== null}
          loadConditional={loadConditional}
          onDraft={onDraft}
          onStep={step}
          onPart={takePart}
        />
        {sentence !== "" && <p className={classes.sentence}>{sentence}</p>}
        <Figures
          market={market}
          draft={draft}
          estimate={found.estimate}
          available={available}
          onDeposit={session ? setDeposited : null}
        />
        {isOld && (
          <WarningNote>
            {t("The prices on this page are old: the connection to the exchange is broken.")}
          </WarningNote>
        )}
        {found.warnings.map((warning) => (
          <WarningNote key={warning}>{warning}</WarningNote>
        ))}
        {placing.error && !asks && <Refused error={placing.error} />}
        {session ? (
          <>
            <Submit
              side={draft.side}
              action={action}
              hint={hint}
              isBusy={placing.isPending}
              isBlocked={blocked !== null}
            />
            {habits.oneClick && <OneClickLock userId={session.userId} isOpen={isOneClick} />}
            <p id={hint} className={classes.hint} role="status">
              {blocked ?? ""}
            </p>
          </>
        ) : (
          <>
            <Button component={Link} href={`/login?next=/${symbol}`} size="md" fullWidth>
              {t("Log in to trade")}
            </Button>
            <p className={classes.hint}>
              {rich("No account? {link}", {
                link: <Link href={`/register?next=/${symbol}`}>{t("Create one")}</Link>,
              })}
            </p>
          </>
        )}
      </form>
      {asks && (
        <OrderReview
          market={market}
          draft={draft}
          found={found}
          sentence={sentence}
          action={action}
          isBusy={placing.isPending}
          error={placing.error}
          onConfirm={send}
          onClose={() => setAsks(false)}
        />
      )}
      {deposited !== null && <DepositDialog first={deposited} onClose={() => setDeposited(null)} />}
    </Panel>
  );
});

/** Faults that are the same as before stay one object: what shows them is not drawn again. */
function useSame(faults: Review["faults"]): Review["faults"] {
  const text = JSON.stringify(faults);
  return useMemo(() => JSON.parse(text) as Review["faults"], [text]);
}

/** Apart from the form, which is drawn with every change of the book. */
const Submit = memo(function Submit({
  side,
  action,
  hint,
  isBusy,
  isBlocked,
}: {
  side: Draft["side"];
  action: string;
  hint: string;
  isBusy: boolean;
  isBlocked: boolean;
}) {
  return (
    <Button
      type="submit"
      size="md"
      fullWidth
      className={classes.submit}
      data-side={side}
      loading={isBusy}
      disabled={isBlocked}
      aria-describedby={hint}
    >
      {action}
    </Button>
  );
});

/** What is free, and what the order would do. */
function Figures({
  market,
  draft,
  estimate,
  available,
  onDeposit,
}: {
  market: Market;
  draft: Draft;
  estimate: Estimate | null;
  available: { base: string; quote: string } | null;
  onDeposit: ((asset: string) => void) | null;
}) {
  const { baseAsset, quoteAsset } = market;
  const places = placesOf(market.tickSize);
  const isBuy = draft.side === "buy";
  const spent = isBuy ? quoteAsset : baseAsset;
  const free = isBuy ? available?.quote : available?.base;
  const waits = isConditional(draft.type);
  const money = (value: bigint | undefined) =>
    value === undefined ? "–" : <AssetAmount value={rounded(value)} asset={quoteAsset} />;
  const rows: [string, ReactNode][] = [
    [
      t("Free"),
      free === undefined ? (
        "–"
      ) : (
        <span key="free" className={classes.free}>
          <AssetAmount value={free} asset={spent} />
          {onDeposit && ZERO.test(free) && (
            <Button
              size="compact-xs"
              variant="light"
              className={classes.deposit}
              aria-label={t("Deposit {asset}", { asset: spent })}
              onClick={() => onDeposit(spent)}
            >
              {t("Deposit")}
            </Button>
          )}
        </span>
      ),
    ],
    ...(draft.type === "limit" && (draft.postOnly || draft.timeInForce !== "gtc")
      ? [[t("Type"), kindOf(draft.type, draft.timeInForce, draft.postOnly)] satisfies [string, ReactNode]]
      : []),
    ...(slides(draft)
      ? [[t("If it would trade at once"), t("Move it one tick behind")] satisfies [string, ReactNode]]
      : []),
    [t("Amount"), estimate ? `${formatDecimal(scaledText(estimate.quantity))} ${baseAsset}` : "–"],
    [
      draft.type === "limit" ? t("Fills at once") : waits ? t("Price at worst") : t("Average price"),
      draft.type !== "limit"
        ? estimate
          ? `${formatDecimal(rounded(estimate.averagePrice), places)} ${quoteAsset}`
          : "–"
        : estimate
          ? `${formatDecimal(scaledText(estimate.filledNow))} ${baseAsset}`
          : "–",
    ],
    // A buyer's money is held with the highest fee; what is not needed becomes free again.
    isBuy
      ? [t("Fee at most ({feeText})", { feeText: feeText(market) }), money(estimate?.heldFee)]
      : [t("Fee ({feeText})", { feeText: feeText(market) }), money(estimate?.fee)],
    [
      isBuy ? (waits ? t("Held until it fires") : t("You pay at most")) : t("You receive"),
      <strong key="total">{money(isBuy ? estimate?.held : estimate?.total)}</strong>,
    ],
  ];
  return (
    <dl className={classes.figures}>
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd className="figures">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** An estimate to eight places: it moves with the market, so further digits would say nothing. */
function rounded(value: bigint): string {
  const step = 10n ** 10n;
  return scaledText(((value + (value < 0n ? -step : step) / 2n) / step) * step);
}

function feeText({ makerFee, takerFee }: Market): string {
  return `${percentFigure(makerFee)}–${percentOfBps(takerFee)}`;
}
