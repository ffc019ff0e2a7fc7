import { ActionIcon, Menu } from "@mantine/core";
import { CheckIcon, SlidersIcon } from "@primer/octicons-react";
import type { ReactNode } from "react";
import { rich, t, texts } from "#lib/language.ts";
import { type BookView, changeBookView, useBookView } from "./bookView.ts";

const SIDES: readonly (readonly [BookView["sides"], string])[] = texts([
  ["both", "Bids and asks"],
  ["bids", "Bids alone"],
  ["asks", "Asks alone"],
]);

/** What the order book shows: sides, and the asset of its totals. */
export default function BookMenu({ baseAsset, quoteAsset }: { baseAsset: string; quoteAsset: string }) {
  const { sides, inQuote } = useBookView();
  return (
    <Menu position="bottom-end" width={200}>
      <Menu.Target>
        <ActionIcon variant="default" size={30} aria-label={t("View of the order book")}>
          <SlidersIcon />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {SIDES.map(([value, label]) => (
          <Choice key={value} isChosen={sides === value} onChoose={() => changeBookView({ sides: value })}>
            {t(label)}
          </Choice>
        ))}
        <Menu.Divider />
        {[false, true].map((unit) => (
          <Choice
            key={String(unit)}
            isChosen={inQuote === unit}
            onChoose={() => changeBookView({ inQuote: unit })}
          >
            {rich("Totals in {asset}", { asset: unit ? quoteAsset : baseAsset })}
          </Choice>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

function Choice({
  isChosen,
  onChoose,
  children,
}: {
  isChosen: boolean;
  onChoose: () => void;
  children: ReactNode;
}) {
  return (
    <Menu.Item
      role="menuitemradio"
      aria-checked={isChosen}
      rightSection={isChosen ? <CheckIcon /> : null}
      onClick={onChoose}
    >
      {children}
    </Menu.Item>
  );
}
