import { Select } from "@mantine/core";
import { useState } from "react";
import { Card } from "#lib/components/Card.tsx";
import { ProblemNote } from "#lib/components/states.tsx";
import { t } from "#lib/language.ts";
import { useMarkets } from "../api/queries.ts";
import { keptSymbol } from "../market/preferences.ts";
import { explain } from "../api/messages.ts";
import type { OpeningDraft } from "./opening.ts";
import { OpeningForm } from "./OpeningForm.tsx";
import type { MarginAccount } from "./queries.ts";

/** Opens a position in a market that is chosen here. */
export function OpenForm({ account }: { account: MarginAccount }) {
  const { data: all = [], error } = useMarkets();
  const markets = all.filter(({ margin }) => margin);
  const [chosen, setChosen] = useState(keptSymbol);
  const [draft, setDraft] = useState<OpeningDraft>({ side: "buy", quantity: "", leverage: "2" });
  const market = markets.find(({ symbol }) => symbol === chosen) ?? markets[0];
  const change = (changes: Partial<OpeningDraft>) => setDraft((before) => ({ ...before, ...changes }));
  return (
    <Card title={t("Open a position")}>
      <OpeningForm
        market={market}
        account={account}
        draft={draft}
        onDraft={change}
        lead={
          <Select
            label={t("Market")}
            searchable
            nothingFoundMessage={t("No market of that name")}
            data={markets.map((known) => known.symbol)}
            value={market?.symbol ?? null}
            onChange={(value) => {
              if (value === null) return;
              setChosen(value);
              change({ quantity: "" });
            }}
          />
        }
      />
      {error && !market && <ProblemNote problem={explain(error)} />}
    </Card>
  );
}
