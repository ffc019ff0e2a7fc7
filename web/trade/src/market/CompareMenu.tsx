import { ActionIcon, Popover } from "@mantine/core";
import { GitCompareIcon } from "@primer/octicons-react";
import { lazy, Suspense, useState } from "react";
import { t } from "#lib/language.ts";
import { useCompared } from "./compared.ts";

const load = () => import("./CompareChoices.tsx");
/** Loaded when it is opened. */
const CompareChoices = lazy(load);

/** The button that opens the markets to compare with. */
export function CompareMenu({
  symbol,
  within,
}: {
  symbol: string;
  /** What fills the screen, if anything does: nothing else is seen. */
  within: HTMLElement | null;
}) {
  const isActive = useCompared(symbol).length > 0;
  const [isOpen, setOpen] = useState(false);
  const toggle = () => {
    if (isOpen) setOpen(false);
    // The focus goes to the first choice, which has to be there by then.
    else void load().finally(() => setOpen(true));
  };
  return (
    <Popover
      opened={isOpen}
      onChange={setOpen}
      position="bottom-end"
      shadow="md"
      trapFocus
      returnFocus
      {...(within ? { portalProps: { target: within } } : {})}
    >
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
        <Suspense>
          <CompareChoices symbol={symbol} />
        </Suspense>
      </Popover.Dropdown>
    </Popover>
  );
}
