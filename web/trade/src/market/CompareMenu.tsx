import { ActionIcon, Popover } from "@mantine/core";
import { GitCompareIcon } from "@primer/octicons-react";
import { useState } from "react";
import { late } from "#lib/components/late.tsx";
import { t } from "#lib/language.ts";
import { useCompared } from "./compared.ts";

/** Loaded when it is opened. */
const CompareChoices = late(() => import("./CompareChoices.tsx"));

/** The button that opens the markets to compare with. */
export function CompareMenu({ symbol }: { symbol: string }) {
  const isActive = useCompared(symbol).length > 0;
  const [isOpen, setOpen] = useState(false);
  const toggle = () => {
    if (isOpen) setOpen(false);
    // The focus goes to the first choice, which has to be there by then.
    else void CompareChoices.loadAhead().then(() => setOpen(true));
  };
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-end" shadow="md" trapFocus returnFocus>
      <Popover.Target>
        <ActionIcon
          variant={isActive ? "light" : "subtle"}
          color={isActive ? "accent" : "gray"}
          aria-label={t("Compare with other markets")}
          title={t("Compare with other markets")}
          onClick={toggle}
        >
          <GitCompareIcon />
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown aria-label={t("Compare with other markets")} p={8}>
        <CompareChoices symbol={symbol} />
      </Popover.Dropdown>
    </Popover>
  );
}
