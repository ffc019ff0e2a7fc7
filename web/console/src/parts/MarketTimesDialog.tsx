import { SimpleGrid } from "@mantine/core";
import { useState } from "react";
import { ConfirmDialog } from "#lib/components/ConfirmDialog.tsx";
import { WarningNote } from "#lib/components/states.tsx";
import { toastDone } from "#lib/components/toasts.tsx";
import { useNow } from "#lib/useNow.ts";
import { explainIfAny } from "../engine/messages.ts";
import {
  type MarketListing,
  type MarketTerms,
  REASON_LENGTH_MIN,
  STATUSES,
  typedOn,
  useListingChange,
  useListings,
} from "../operator/listings.ts";
import {
  changesSince,
  scheduleOf,
  shownTime,
  timedAfter,
  type TimedStatus,
  type TimesDraft,
  timeFaults,
  timesOf,
  type TimesSeen,
  typedInVain,
} from "../operator/marketTimes.ts";
import { useActingName } from "../operator/session.ts";
import { UtcTimeField } from "./UtcTimeField.tsx";

/**
 * Change when a market gets its next statuses by itself, or take a time back. The market may get one while this is open:
 * the dialog follows it, says what has changed, and keeps what is typed.
 */
export function MarketTimesDialog({
  market,
  terms,
  onClose,
}: {
  market: MarketListing;
  terms: MarketTerms;
  onClose: () => void;
}) {
  const [first] = useState<TimesSeen>(() => ({ status: terms.status, times: timesOf(terms.schedule) }));
  const [seen, setSeen] = useState({ version: market.version, ...first });
  const { status, times: before } = seen;
  const [times, setTimes] = useState(before);
  const [unfinished, setUnfinished] = useState<readonly TimedStatus[]>([]);
  const change = useListingChange(market.symbol, () => {
    onClose();
    toastDone(`The times of ${market.symbol} are changed`);
  });
  const present = useListings().data?.find(({ symbol }) => symbol === market.symbol);
  // While the own change is under way, the list may have it before its reply is here.
  if (present?.terms && present.version !== seen.version && !change.isPending) {
    const now = timesOf(present.terms.schedule);
    setSeen({ version: present.version, status: present.terms.status, times: now });
    setTimes(typedOn(before, times, now));
  }
  const able = timedAfter(status);
  const faults = timeFaults(status, times, useNow(1_000), before);
  const changed = able.filter((timed) => times[timed] !== before[timed]);
  const isWrong = able.some((timed) => faults[timed] !== undefined || unfinished.includes(timed));
  return (
    <ConfirmDialog
      title={`Change the times of ${market.symbol}?`}
      operator={useActingName()}
      comparisons={changed.map((timed) => ({
        name: STATUSES[timed].title,
        before: shownTime(before[timed]),
        after: shownTime(times[timed]),
      }))}
      asksReason
      reasonLengthMin={REASON_LENGTH_MIN}
      reasonStandsIn="the market's history and the audit trail"
      missing={[isWrong && "correct the times", changed.length === 0 && "change a time"]}
      confirm="Change the times"
      isBusy={change.isPending}
      problem={explainIfAny(change.error)}
      onConfirm={(reason) =>
        change.mutate({ schedule: scheduleOf(status, times), version: seen.version, reason })
      }
      onClose={onClose}
    >
      The market is {STATUSES[status].title.toLowerCase()}. It gets each status by itself at its time, in UTC;
      an empty field takes the time back. A market that margin offers does not end by itself: delist it when
      its time has come.
      <Meanwhile first={first} now={seen} typed={times} />
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm" mt="sm">
        {able.map((timed) => (
          <UtcTimeField
            key={timed}
            label={`${STATUSES[timed].title} from`}
            description="In UTC. Empty: not by itself."
            value={times[timed]}
            fault={faults[timed]}
            onValue={(value, isUnfinished) => {
              setTimes((now) => ({ ...now, [timed]: value }));
              setUnfinished((now) => [
                ...now.filter((other) => other !== timed),
                ...(isUnfinished ? [timed] : []),
              ]);
            }}
          />
        ))}
      </SimpleGrid>
    </ConfirmDialog>
  );
}

/** What others, or the market by itself, have changed since the dialog was opened. */
function Meanwhile({ first, now, typed }: { first: TimesSeen; now: TimesSeen; typed: TimesDraft }) {
  const changes = changesSince(first, now);
  const vain = typedInVain(now, typed).map((timed) => STATUSES[timed].title);
  return (
    <div aria-live="polite">
      {(changes.length > 0 || vain.length > 0) && (
        <WarningNote>
          The market has changed since you opened this; what you typed stays.{" "}
          {changes.map(({ name, before, after }) => `${name}: ${before}, now ${after}.`).join(" ")}
          {vain.length > 0 && ` The time that you typed for ${vain.join(" and ")} cannot come any more.`}
        </WarningNote>
      )}
    </div>
  );
}
