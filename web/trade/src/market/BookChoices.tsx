import { Menu } from "@mantine/core";
import { rich, t, texts } from "#lib/language.ts";
import { type BookView, changeBookView, useBookView } from "./bookView.ts";

const SIDES: readonly (readonly [BookView["sides"], string])[] = texts([
  ["both", "Bids and asks"],
  ["bids", "Bids alone"],
  ["asks", "Asks alone"],
]);

/** What the order book shows: sides, and the asset of its totals. */
export default function BookChoices({ baseAsset, quoteAsset }: { baseAsset: string; quoteAsset: string }) {
  const { sides, inQuote } = useBookView();
  return (
    <>
      <Menu.RadioGroup
        value={sides}
        onChange={(value) =>
          changeBookView({ sides: SIDES.find(([known]) => known === value)?.[0] ?? "both" })
        }
      >
        {SIDES.map(([value, label]) => (
          <Menu.RadioItem key={value} value={value}>
            {t(label)}
          </Menu.RadioItem>
        ))}
      </Menu.RadioGroup>
      <Menu.Divider />
      <Menu.RadioGroup
        value={inQuote ? "quote" : "base"}
        onChange={(value) => changeBookView({ inQuote: value === "quote" })}
      >
        <Menu.RadioItem value="base">{rich("Totals in {asset}", { asset: baseAsset })}</Menu.RadioItem>
        <Menu.RadioItem value="quote">{rich("Totals in {asset}", { asset: quoteAsset })}</Menu.RadioItem>
      </Menu.RadioGroup>
    </>
  );
}
