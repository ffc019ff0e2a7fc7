import { ActionIcon, Menu } from "@mantine/core";
import { KebabHorizontalIcon } from "@primer/octicons-react";
import { useState } from "react";
import { late } from "#lib/components/late.tsx";
import { t } from "#lib/language.ts";

/** Loaded when it is opened. */
const BookChoices = late(() => import("./BookChoices.tsx"));

/** The button that opens the views of the order book. */
export function BookMenu(assets: { baseAsset: string; quoteAsset: string }) {
  const [isOpen, setOpen] = useState(false);
  const change = (opens: boolean) => {
    if (!opens) setOpen(false);
    // The focus goes to the first choice, which has to be there by then.
    else void BookChoices.loadAhead().then(() => setOpen(true));
  };
  return (
    <Menu position="bottom-end" width={200} opened={isOpen} onChange={change}>
      <Menu.Target>
        <ActionIcon variant="default" size={30} aria-label={t("View of the order book")}>
          <KebabHorizontalIcon />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <BookChoices {...assets} />
      </Menu.Dropdown>
    </Menu>
  );
}
