import { Button, Select, TextInput } from "@mantine/core";
import { t } from "#lib/language.ts";
import type { UrlState } from "#lib/urlState.ts";
import { useMarkets, useNetworks } from "../api/queries.ts";
import type { Filter } from "./filter.ts";
import classes from "./History.module.css";

interface FiltersProps {
  about: "market" | "asset";
  filter: Filter;
  change: UrlState["change"];
}

/** What of a list is shown: a market or an asset, and days. */
export function Filters({ about, filter, change }: FiltersProps) {
  const markets = useMarkets().data ?? [];
  const networks = useNetworks().data ?? [];
  const known =
    about === "market"
      ? markets.map(({ symbol }) => symbol)
      : [
          ...markets.flatMap(({ baseAsset, quoteAsset }) => [baseAsset, quoteAsset]),
          ...networks.map(({ asset }) => asset),
        ];
  // A market that is gone still has its history.
  const choices = new Set(filter.subject === "" ? known : [...known, filter.subject]);
  const days = [
    { name: "from", label: t("From"), value: filter.fromDay, fault: filter.fromFault },
    { name: "to", label: t("To"), value: filter.toDay, fault: filter.toFault },
  ];
  return (
    <>
      <Select
        size="xs"
        className={classes.subject}
        aria-label={about === "market" ? t("Market shown") : t("Asset shown")}
        placeholder={about === "market" ? t("All markets") : t("All assets")}
        searchable
        clearable
        nothingFoundMessage={t("None of that name")}
        data={[...choices].sort()}
        value={filter.subject || null}
        onChange={(value) => change({ [about]: value })}
      />
      {days.map(({ name, label, value, fault }) => (
        <TextInput
          key={name}
          type="date"
          size="xs"
          classNames={{
            root: classes.day ?? "",
            label: classes.dayLabel ?? "",
            error: classes.dayFault ?? "",
          }}
          label={label}
          value={value}
          error={fault}
          onChange={({ currentTarget }) => change({ [name]: currentTarget.value })}
        />
      ))}
      {filter.isSet && (
        <Button size="xs" variant="subtle" onClick={() => change({ [about]: null, from: null, to: null })}>
          {t("Clear filters")}
        </Button>
      )}
    </>
  );
}
