import { NativeSelect, SimpleGrid, Textarea, TextInput } from "@mantine/core";
import { useState } from "react";
import { ConfirmDialog } from "#lib/components/ConfirmDialog.tsx";
import { DecimalField } from "#lib/components/DecimalField.tsx";
import { toastDone } from "#lib/components/toasts.tsx";
import { parseCount } from "#lib/counts.ts";
import { isDecimal, isPositive } from "#lib/decimal.ts";
import { parseBasisPoints } from "../engine/markets.ts";
import { explainIfAny } from "../engine/messages.ts";
import {
  delistingSchedule,
  type MarketListing,
  type MarketStatus,
  type MarketTerms,
  REASON_LENGTH_MIN,
  STATUSES,
  type TermsChange,
  typedOn,
  useDelisting,
  useListingChange,
  useOpening,
  usePresentMarket,
} from "../operator/listings.ts";
import { shownTime, timesOf } from "../operator/marketTimes.ts";
import { useActingName, useCan } from "../operator/session.ts";
import { UtcTimeField } from "./UtcTimeField.tsx";

interface ListingDialogProps {
  market: MarketListing;
  terms: MarketTerms;
  onClose: () => void;
}

const HISTORY = "the market's history and the audit trail";

/** What can be changed of a market, with the words of its fields. */
const FIELDS = [
  { name: "takerFee", title: "Taker fee in basis points" },
  { name: "makerFee", title: "Maker fee in basis points" },
  { name: "quantityMin", title: "Least quantity" },
  { name: "quantityMax", title: "Largest quantity" },
  { name: "notionalMin", title: "Least notional" },
  { name: "notionalMax", title: "Largest notional" },
  { name: "deviationBpsMax", title: "Deviation in basis points" },
  { name: "slippageBpsMax", title: "Slippage in basis points" },
  { name: "name", title: "Name" },
  { name: "announcement", title: "Announcement" },
] as const;
type FieldName = (typeof FIELDS)[number]["name"];
type Draft = Record<FieldName, string>;
const DECIMALS: readonly FieldName[] = ["quantityMin", "quantityMax", "notionalMin", "notionalMax"];
const TEXTS: readonly FieldName[] = ["name", "announcement"];

/** Change fees, bounds and texts of a market. */
export function ListingChangeDialog({ market, terms, onClose }: ListingDialogProps) {
  const [seen, setSeen] = useState(() => ({ version: market.version, before: draftOf(market, terms) }));
  const { before } = seen;
  const [draft, setDraft] = useState(before);
  const changed = FIELDS.filter(({ name }) => draft[name] !== before[name]);
  const wrong = changed.filter(({ name }) => !isSound(name, draft[name]));
  const change = useListingChange(market.symbol, () => {
    onClose();
    toastDone(`${market.symbol} is changed`);
  });
  const present = usePresentMarket(market.symbol, change.error);
  if (present?.terms && present.version !== seen.version) {
    const now = draftOf(present, present.terms);
    setSeen({ version: present.version, before: now });
    setDraft(typedOn(before, draft, now));
  }
  const field = (name: FieldName, title: string) => {
    const common = {
      label: title,
      value: draft[name],
      error: wrong.some((each) => each.name === name) ? "A number is needed." : undefined,
    };
    const set = (value: string) => setDraft((now) => ({ ...now, [name]: value }));
    if (DECIMALS.includes(name))
      return <DecimalField key={name} {...common} onValue={(value) => set(value.trim())} />;
    if (name === "announcement")
      return (
        <Textarea
          key={name}
          {...common}
          autosize
          maxLength={500}
          onChange={({ currentTarget }) => set(currentTarget.value)}
        />
      );
    return (
      <TextInput
        key={name}
        {...common}
        maxLength={64}
        onChange={({ currentTarget }) =>
          set(TEXTS.includes(name) ? currentTarget.value : currentTarget.value.trim())
        }
      />
    );
  };
  return (
    <ConfirmDialog
      title={`Change ${market.symbol}?`}
      operator={useActingName()}
      comparisons={changed.map(({ name, title }) => ({
        name: title,
        before: before[name] || "none",
        after: draft[name] || "none",
      }))}
      asksReason
      reasonLengthMin={REASON_LENGTH_MIN}
      reasonStandsIn={HISTORY}
      missing={[changed.length === 0 && "change something", wrong.length > 0 && "correct the numbers"]}
      confirm="Change the market"
      isBusy={change.isPending}
      problem={explainIfAny(change.error)}
      onConfirm={(reason) =>
        change.mutate({
          ...changeOf(
            draft,
            changed.map(({ name }) => name),
          ),
          version: seen.version,
          reason,
        })
      }
      onClose={onClose}
    >
      Fees count for orders from then on; open orders keep theirs. Tick and lot never change.
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm" mt="sm">
        {FIELDS.map(({ name, title }) => field(name, title))}
      </SimpleGrid>
    </ConfirmDialog>
  );
}

function draftOf(market: MarketListing, terms: MarketTerms): Draft {
  return {
    takerFee: String(market.takerFee),
    makerFee: String(market.makerFee),
    quantityMin: terms.quantityMin,
    quantityMax: terms.quantityMax,
    notionalMin: terms.notionalMin,
    notionalMax: terms.notionalMax,
    deviationBpsMax: String(terms.deviationBpsMax),
    slippageBpsMax: String(terms.slippageBpsMax),
    name: terms.name,
    announcement: terms.announcement,
  };
}

function isSound(name: FieldName, text: string): boolean {
  if (TEXTS.includes(name)) return true;
  if (DECIMALS.includes(name)) return isDecimal(text) && isPositive(text);
  return (name === "makerFee" ? parseBasisPoints(text) : parseCount(text)) !== null;
}

function changeOf(draft: Draft, names: readonly FieldName[]): Omit<TermsChange, "reason"> {
  return Object.fromEntries(
    names.map((name) => {
      const text = draft[name];
      const isText = TEXTS.includes(name) || DECIMALS.includes(name);
      return [name, isText ? text.trim() : parseBasisPoints(text)];
    }),
  );
}

/** Open a market, or let it get another status on the way there. */
export function OpeningDialog({ market, terms, onClose }: ListingDialogProps) {
  const { following } = STATUSES[terms.status];
  const [wanted, setWanted] = useState<MarketStatus>(following.at(-1) ?? "open");
  const opening = useOpening(market.symbol, () => {
    onClose();
    toastDone(`${market.symbol}: ${STATUSES[wanted].title}`);
  });
  return (
    <ConfirmDialog
      title={`Change the status of ${market.symbol}?`}
      operator={useActingName()}
      comparisons={[
        { name: "Status", before: STATUSES[terms.status].title, after: STATUSES[wanted].title },
        ...(terms.schedule.length > 0
          ? [{ name: "Schedule", before: `${terms.schedule.length} to come`, after: "none" }]
          : []),
      ]}
      asksReason
      reasonLengthMin={REASON_LENGTH_MIN}
      reasonStandsIn={HISTORY}
      confirm="Change the status"
      isBusy={opening.isPending}
      problem={explainIfAny(opening.error)}
      onConfirm={(reason) => {
        if (wanted !== "delisting" && wanted !== "delisted") opening.mutate({ status: wanted, reason });
      }}
      onClose={onClose}
    >
      <NativeSelect
        label="Status"
        data={following.map((status) => ({ value: status, label: STATUSES[status].title }))}
        value={wanted}
        description={STATUSES[wanted].description}
        onChange={({ currentTarget }) =>
          setWanted(following.find((status) => status === currentTarget.value) ?? wanted)
        }
      />
    </ConfirmDialog>
  );
}

/** Delist a market, or schedule that. */
export function DelistingDialog({ market, terms, onClose }: ListingDialogProps) {
  const [from, setFrom] = useState("");
  const [isUnfinished, setUnfinished] = useState(false);
  const can = useCan();
  const isLater = from !== "" || isUnfinished;
  const delisting = useDelisting(market.symbol, () => {
    onClose();
    toastDone(`${market.symbol} is being delisted`, "The engine cancels its open orders.");
  });
  const scheduling = useListingChange(market.symbol, () => {
    onClose();
    toastDone(`The delisting of ${market.symbol} is scheduled`);
  });
  const present = usePresentMarket(market.symbol, scheduling.error) ?? market;
  const known = (present.terms ?? terms).schedule;
  const schedule = delistingSchedule(known, from);
  const scheduled = shownTime(timesOf(known).delisting);
  return (
    <ConfirmDialog
      title={`Delist ${market.symbol}?`}
      operator={useActingName()}
      comparisons={[
        isLater
          ? { name: "Delisting", before: scheduled, after: shownTime(from) }
          : { name: "Status", before: STATUSES[terms.status].title, after: "Delisting" },
        ...(!isLater && known.length > 0
          ? [{ name: "Schedule", before: `${known.length} to come`, after: "none" }]
          : []),
      ]}
      asksReason
      reasonLengthMin={REASON_LENGTH_MIN}
      reasonStandsIn={HISTORY}
      typed={market.symbol}
      missing={[isLater && schedule === null && "correct the time"]}
      confirm={isLater ? "Schedule the delisting" : "Delist the market"}
      dismiss="Keep the market"
      danger
      isBusy={delisting.isPending || scheduling.isPending}
      problem={explainIfAny(isLater ? scheduling.error : delisting.error)}
      onConfirm={(reason) => {
        if (!isLater) delisting.mutate({ reason });
        else if (schedule !== null) scheduling.mutate({ schedule, version: present.version, reason });
      }}
      onClose={onClose}
    >
      It takes no order any more, and all its open orders are cancelled. Its trades and candles stay readable,
      and balances can be withdrawn. Where margin offers the market, schedule its delisting first: from then
      on margin takes nothing new that needs it. Such a market does not end by itself at that time. Margin is
      asked when you delist it.
      {can("symbols.update") && (
        <UtcTimeField
          label="Later, at"
          description="In UTC. Empty: now."
          value={from}
          fault={isLater && schedule === null ? "A date and a time are needed." : undefined}
          onValue={(value, isHalf) => {
            setFrom(value);
            setUnfinished(isHalf);
          }}
        />
      )}
    </ConfirmDialog>
  );
}
