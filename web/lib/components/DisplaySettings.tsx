import { ActionIcon, Popover, Tooltip } from "@mantine/core";
import { SlidersIcon } from "@primer/octicons-react";
import { lazy, Suspense, useState } from "react";
import { t } from "../language.ts";

const load = () => import("./DisplayChoices.tsx");
/** A third of the scripts of a login page would be for these choices, so they are loaded when they are opened. */
const DisplayChoices = lazy(load);

/** Theme, time zone and separators of figures, for this browser. */
export function DisplaySettings() {
  const [isOpen, setOpen] = useState(false);
  const toggle = () => {
    if (isOpen) setOpen(false);
    // The focus goes to the first choice, which has to be there by then.
    else void load().finally(() => setOpen(true));
  };
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-end" shadow="md" trapFocus returnFocus>
      <Popover.Target>
        <Tooltip label={t("Theme, time zone and figures")}>
          <ActionIcon
            variant="subtle"
            color="gray"
            size="lg"
            aria-label={t("Display settings")}
            onClick={toggle}
          >
            <SlidersIcon />
          </ActionIcon>
        </Tooltip>
      </Popover.Target>
      <Popover.Dropdown aria-label={t("Display settings")}>
        <Suspense>
          <DisplayChoices />
        </Suspense>
      </Popover.Dropdown>
    </Popover>
  );
}
