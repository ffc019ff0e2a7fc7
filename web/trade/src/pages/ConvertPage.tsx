import { Button, Select, Stack } from "@mantine/core";
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Card } from "#lib/components/Card.tsx";
import { copyAndTell } from "#lib/components/CopyText.tsx";
import { DataTable } from "#lib/components/DataTable.tsx";
import { DecimalField } from "#lib/components/DecimalField.tsx";
import { PageHeader } from "#lib/components/PageHeader.tsx";
import { ShowOlder } from "#lib/components/ShowOlder.tsx";
import { EmptyState, ErrorState, ProblemNote } from "#lib/components/states.tsx";
import { toastDone, toastFailed } from "#lib/components/toasts.tsx";
import { formatDecimal } from "#lib/decimal.ts";
import { several, t } from "#lib/language.ts";
import { readScaled } from "#lib/scaled.ts";
import { decimalForm } from "#lib/decimalForm.ts";
import { useNow } from "#lib/useNow.ts";
import { attemptKey, returned, type Schemas, slice, useExchange } from "../api/client.ts";
import { isOutcomeUnknown } from "../api/errors.ts";
import { BALANCES } from "../api/live.ts";
import { useBalances } from "../api/queries.ts";
import { explain, explainIfAny } from "../api/messages.ts";
import { CONVERSION_COLUMNS, conversionName } from "../conversions/columns.tsx";
import { CONVERSIONS } from "../conversions/queries.ts";
import classes from "./ConvertPage.module.css";
import { AssetAmount } from "../parts/AssetAmount.tsx";
import { Said } from "../parts/Said.tsx";
import { amountText } from "../parts/assetPlaces.ts";

type Quote = Schemas["QuoteResponse"];

const PAGE = 50;

/** One asset into another at a price that is quoted for some seconds, and what was converted so far. */
export default function ConvertPage() {
  return (
    <div className={classes.page}>
      <PageHeader title={t("Convert")}>
        {t("One asset into another, at a price that is firm for some seconds.")}
      </PageHeader>
      <div className={classes.form}>
        <ConversionForm />
      </div>
      <Card flush title={t("Your conversions")}>
        <Conversions />
      </Card>
    </div>
  );
}

function ConversionForm() {
  const { rest } = useExchange();
  const balances = useBalances();
  const [from, setFrom] = useState("USD");
  const [to, setTo] = useState("BTC");
  const [amount, setAmount] = useState("");
  const [quote, setQuote] = useState<Quote | null>(null);
  const pairs = useQuery({
    queryKey: ["pairs"],
    queryFn: ({ signal }) => returned(rest.GET("/api/v1/conversions/pairs", { signal })),
    meta: { isPublic: true },
  });
  const ask = useMutation({
    mutationFn: () =>
      returned(
        rest.POST("/api/v1/conversions/quote", {
          body: { fromAsset: from, toAsset: to, fromAmount: amount.trim() },
        }),
      ),
    onSuccess: setQuote,
  });
  if (pairs.error && !pairs.data) {
    return <ErrorState problem={explain(pairs.error)} onRetry={() => void pairs.refetch()} />;
  }
  const known = pairs.data ?? [];
  const sources = [...new Set(known.map(({ fromAsset }) => fromAsset))].sort();
  const targets = known.filter(({ fromAsset }) => fromAsset === from).map(({ toAsset }) => toAsset);
  const pair = known.find(({ fromAsset, toAsset }) => fromAsset === from && toAsset === to);
  const free = balances.data?.find(({ asset }) => asset === from)?.available ?? "0";
  const blocked = faultOf(amount.trim(), pair, balances.data ? free : null);
  return (
    <Card title={t("New conversion")}>
      <form
        className={classes.fields}
        onSubmit={(event) => {
          event.preventDefault();
          if (blocked === null && !ask.isPending) ask.mutate();
        }}
      >
        <Select
          label={t("From|asset")}
          searchable
          disabled={quote !== null}
          data={sources}
          value={from}
          onChange={(value) => value !== null && setFrom(value)}
        />
        <Select
          label={t("To|asset")}
          searchable
          disabled={quote !== null}
          data={[...targets].sort()}
          value={targets.includes(to) ? to : null}
          placeholder={t("Choose an asset")}
          onChange={(value) => value !== null && setTo(value)}
        />
        <DecimalField
          label={t("Amount in {from}", { from })}
          description={
            balances.data
              ? t("{amountText} {from} free", { amountText: amountText(free, from), from })
              : t("Your balances are on their way.")
          }
          value={amount}
          disabled={quote !== null}
          onValue={setAmount}
        />
        {quote ? (
          <Confirmation
            key={quote.quoteId}
            quote={quote}
            onEnd={() => setQuote(null)}
            onDone={() => setAmount("")}
          />
        ) : (
          <>
            {ask.error && <ProblemNote problem={explain(ask.error)} />}
            <Button
              type="submit"
              loading={ask.isPending}
              disabled={blocked !== null}
              aria-describedby="convert-hint"
            >
              {t("Ask for a price")}
            </Button>
            <p id="convert-hint" className={classes.hint} role="status">
              {blocked ?? ""}
            </p>
          </>
        )}
      </form>
    </Card>
  );
}

/** Why no quote can be requested, or null. */
function faultOf(
  amount: string,
  pair: Schemas["PairResponse"] | undefined,
  free: string | null,
): string | null {
  if (!pair) return t("Choose two assets that can be converted.");
  if (amount === "") return t("Enter an amount.");
  const value = readScaled(amount);
  if (value === null || value <= 0n)
    return t("An amount is {decimalForm}, more than zero.", { decimalForm: decimalForm() });
  const [least, most] = [readScaled(pair.minimum), readScaled(pair.maximum)];
  if (least !== null && value < least)
    return t("The least amount is {minimum} {fromAsset}.", {
      minimum: formatDecimal(pair.minimum),
      fromAsset: pair.fromAsset,
    });
  if (most !== null && value > most)
    return t("The largest amount is {maximum} {fromAsset}.", {
      maximum: formatDecimal(pair.maximum),
      fromAsset: pair.fromAsset,
    });
  if (free !== null && value > (readScaled(free) ?? 0n))
    return t("Not enough {fromAsset}: {amountText} is free.", {
      fromAsset: pair.fromAsset,
      amountText: amountText(free, pair.fromAsset),
    });
  return null;
}

/** The price of the dearer asset in the other one, in its places, at most eight. Only the amounts are exact. */
function priceOf(quote: Quote): string {
  const isSmall = quote.price.startsWith("0");
  const [one, other] = isSmall ? [quote.toAsset, quote.fromAsset] : [quote.fromAsset, quote.toAsset];
  const [whole = "", fraction = ""] = (isSmall ? quote.inversePrice : quote.price).split(".");
  const kept = fraction.slice(0, 8).replace(/0+$/, "");
  return `1 ${one} ≈ ${amountText(kept ? `${whole}.${kept}` : whole, other)} ${other}`;
}

/** The quote, how long it holds, and the button that takes it. */
function Confirmation({ quote, onEnd, onDone }: { quote: Quote; onEnd: () => void; onDone: () => void }) {
  const { rest } = useExchange();
  const client = useQueryClient();
  const now = useNow(250);
  const [key] = useState(attemptKey);
  const convert = useMutation({
    // The key belongs to the quote, so a second try after a lost response finds the same conversion.
    mutationFn: () =>
      returned(
        rest.POST("/api/v1/conversions", {
          body: { quoteId: quote.quoteId },
          params: { header: { "Idempotency-Key": key } },
        }),
      ),
    onSettled: () => {
      for (const queryKey of [CONVERSIONS, BALANCES]) void client.invalidateQueries({ queryKey });
    },
    onSuccess: (done) => {
      const words = t("{amountText} {fromAsset} into {amountText2} {toAsset}", {
        amountText: amountText(done.fromAmount, done.fromAsset),
        fromAsset: done.fromAsset,
        amountText2: amountText(done.toAmount, done.toAsset),
        toAsset: done.toAsset,
      });
      if (done.status === "failed")
        toastFailed(
          t("Not converted"),
          <>
            {words}: {done.failureCode === null ? t("no reason given") : <Said reason={done.failureCode} />}
          </>,
        );
      else toastDone(done.status === "completed" ? t("Converted") : t("The conversion is under way"), words);
      onDone();
      onEnd();
    },
  });
  const left = Math.max(0, Math.ceil((Date.parse(quote.expiresAt) - now) / 1000));
  const isUnknown = convert.error !== null && isOutcomeUnknown(convert.error);
  return (
    <Stack gap="sm" role="group" aria-label={t("Quote")}>
      <dl className={classes.facts}>
        <div>
          <dt>{t("You give")}</dt>
          <dd>
            <AssetAmount value={quote.fromAmount} asset={quote.fromAsset} />
          </dd>
        </div>
        <div>
          <dt>{t("You get")}</dt>
          <dd>
            <strong>
              <AssetAmount value={quote.toAmount} asset={quote.toAsset} />
            </strong>
          </dd>
        </div>
        <div>
          <dt>{t("Price")}</dt>
          <dd>
            <span className="figures">{priceOf(quote)}</span>
          </dd>
        </div>
        <div>
          <dt>{t("Spread, in the price")}</dt>
          <dd>
            <AssetAmount value={quote.spreadAmount} asset={quote.fromAsset} />
          </dd>
        </div>
      </dl>
      {convert.error && <ProblemNote problem={explain(convert.error)} />}
      <Button
        type="button"
        loading={convert.isPending}
        disabled={left === 0 && !isUnknown}
        onClick={() => convert.mutate()}
      >
        {isUnknown
          ? t("Ask again what became of it")
          : left > 0
            ? several(left, "Convert ({count} second left)", "Convert ({count} seconds left)")
            : t("The quote has expired")}
      </Button>
      <Button type="button" variant="default" onClick={onEnd}>
        {t("Back")}
      </Button>
    </Stack>
  );
}

function Conversions() {
  const { rest } = useExchange();
  const query = useInfiniteQuery({
    queryKey: CONVERSIONS,
    queryFn: ({ pageParam, signal }) => {
      const parameters = { limit: PAGE, ...(pageParam ? { cursor: pageParam } : {}) };
      return slice(rest.GET("/api/v1/conversions", { params: { query: parameters }, signal }));
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
  });
  return (
    <DataTable
      label={t("Conversions")}
      columns={CONVERSION_COLUMNS}
      rows={query.data?.pages.flatMap(({ rows }) => rows)}
      rowId={({ id }) => id}
      rowName={conversionName}
      actions={({ id }) => [{ label: t("Copy id"), onClick: () => copyAndTell(id) }]}
      state={query}
      problem={explainIfAny(query.error)}
      empty={<EmptyState title={t("No conversions yet")}>{t("What you convert appears here.")}</EmptyState>}
      footer={<ShowOlder query={query} />}
    />
  );
}
