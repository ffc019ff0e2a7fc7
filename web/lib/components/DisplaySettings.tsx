import { ActionIcon, Popover, Tooltip } from "@mantine/core";
import { SlidersIcon } from "@primer/octicons-react";
import { useState } from "react";
import { t } from "../language.ts";
import { late } from "./late.tsx";

/** A third of the scripts of a login page would be for these choices, so they are loaded when they are opened. */
const DisplayChoices = late(() => import("./DisplayChoices.tsx"));

/** Theme, time zone and separators of figures, for this browser. */
export function DisplaySettings() {
  const [isOpen, setOpen] = useState(false);
  const toggle = () => {
    if (isOpen) setOpen(false);
    // The focus goes to the first choice, which has to be there by then.
    else void DisplayChoices.loadAhead().then(() => setOpen(true));
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
        <DisplayChoices />
      </Popover.Dropdown>
    </Popover>
  );
}
