import { TimeText } from "#lib/components/TimeText.tsx";
import { rich, several, t } from "#lib/language.ts";
import type { SpotResults } from "./queries.ts";

type Counted = Pick<SpotResults, "costsAsOf" | "readAt" | "unvaluedFills" | "shortfallCount">;

/** Until when trades are counted in results, and what counts in none. */
export function CountedUntil({ results }: { results: Counted }) {
  const { costsAsOf, readAt, unvaluedFills, shortfallCount } = results;
  return (
    <>
      {costsAsOf === null ? (
        <p>
          {t(
            "The trades of this exchange are not followed here: costs and results are of what you recorded.",
          )}
        </p>
      ) : (
        costsAsOf !== readAt && (
          <p>
            {rich("Costs and results count your trades until {time}", {
              time: <TimeText milliseconds={Date.parse(costsAsOf)} />,
            })}
            {unvaluedFills > 0 &&
              several(
                unvaluedFills,
                "; {count} fill wait for a price of their quote asset",
                "; {count} fills wait for a price of their quote asset",
              )}
            .
          </p>
        )
      )}
      {shortfallCount > 0 && (
        <p>
          {several(
            shortfallCount,
            "{count} transaction took more than was known to be held, and count in no result. The tax lots say which.",
            "{count} transactions took more than was known to be held, and count in no result. The tax lots say which.",
          )}
        </p>
      )}
    </>
  );
}
