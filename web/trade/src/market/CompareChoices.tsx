import { Checkbox, TextInput } from "@mantine/core";
import { useState } from "react";
import { t } from "#lib/language.ts";
import { useMarkets } from "../api/queries.ts";
import classes from "./CompareChoices.module.css";
import { COMPARED_MAX, toggleCompared, useCompared } from "./compared.ts";

const SHOWN_MAX = 50;

/** The other markets, to choose from: those that are compared first. */
export default function CompareChoices({ symbol }: { symbol: string }) {
  const { data: markets = [] } = useMarkets();
  const chosen = useCompared(symbol);
  const [text, setText] = useState("");
  const wanted = text.trim().toUpperCase();
  const others = markets
    .map((market) => market.symbol)
    .filter((name) => name !== symbol && !chosen.includes(name) && name.includes(wanted));
  const isFull = chosen.length >= COMPARED_MAX;
  return (
    <div className={classes.choices}>
      <TextInput
        size="xs"
        aria-label={t("Search markets")}
        placeholder={t("Search markets")}
        autoComplete="off"
        maxLength={21}
        value={text}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
      />
      <p>{t("At most {count} at once, in percent.", { count: String(COMPARED_MAX) })}</p>
      <ul>
        {[...chosen, ...others.slice(0, SHOWN_MAX)].map((name) => (
          <li key={name}>
            <Checkbox
              size="sm"
              label={name}
              checked={chosen.includes(name)}
              disabled={isFull && !chosen.includes(name)}
              onChange={() => toggleCompared(name, symbol)}
            />
          </li>
        ))}
      </ul>
    </div>
  );
}
