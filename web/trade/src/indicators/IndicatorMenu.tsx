import { Button, Popover } from "@mantine/core";
import { useState } from "react";
import { late } from "#lib/components/late.tsx";
import { t } from "#lib/language.ts";
import { useStore } from "#lib/store.ts";
import { shown } from "./shown.ts";

/** Loaded when it is opened. */
const IndicatorChoices = late(() => import("./IndicatorChoices.tsx"));

/** The button that opens the list of indicators; it says how many are shown. */
export function IndicatorMenu() {
  const count = useStore(shown);
  const [isOpen, setOpen] = useState(false);
  const toggle = () => {
    if (isOpen) setOpen(false);
    // The focus goes to the first choice, which has to be there by then.
    else void IndicatorChoices.loadAhead().then(() => setOpen(true));
  };
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-end" shadow="md" trapFocus returnFocus>
      <Popover.Target>
        <Button size="compact-xs" variant="default" onClick={toggle}>
          {count === 0 ? t("Indicators") : t("Indicators ({count})", { count: String(count) })}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={t("Indicators of the chart")} p={0}>
        <IndicatorChoices />
      </Popover.Dropdown>
    </Popover>
  );
}
