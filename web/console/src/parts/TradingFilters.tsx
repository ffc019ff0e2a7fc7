import type { ReactNode } from "react";
import type { UrlState } from "#lib/urlState.ts";
import { DayFilters, NO_DAYS } from "./DayFilters.tsx";
import { ChoiceFilter, FilterBar, TextFilter } from "./filters.tsx";

const SIDES = [
  { value: "buy", label: "Buy" },
  { value: "sell", label: "Sell" },
];

interface Props {
  url: UrlState;
  /** What the side is: "Side". */
  side: string;
  isFiltered: boolean;
  /** The filters of one list alone; `cleared` clears theirs in the address. */
  children?: ReactNode;
  cleared?: Readonly<Record<string, null>>;
}

/** The filters of the orders and trades of all users, which live in the address. */
export function TradingFilters({ url, side, isFiltered, children, cleared }: Props) {
  return (
    <FilterBar
      isFiltered={isFiltered}
      onClear={() => url.change({ user: null, symbol: null, side: null, ...NO_DAYS, ...cleared })}
    >
      <TextFilter label="User id" value={url.parameter("user")} onChange={(user) => url.change({ user })} />
      <TextFilter
        label="Market"
        value={url.parameter("symbol")}
        onChange={(symbol) => url.change({ symbol: symbol.toUpperCase() })}
      />
      <ChoiceFilter
        label={side}
        any="Any side"
        value={url.parameter("side")}
        choices={SIDES}
        onChange={(value) => url.change({ side: value })}
      />
      {children}
      <DayFilters url={url} />
    </FilterBar>
  );
}
