import { ActionIcon, Menu } from "@mantine/core";
import { KebabHorizontalIcon } from "@primer/octicons-react";
import { lazy, Suspense, useState } from "react";
import { t } from "#lib/language.ts";

const load = () => import("./BookChoices.tsx");
/** Loaded when it is opened. */
const BookChoices = lazy(load);

/** The button that opens the views of the order book. */
export function BookMenu(assets: { baseAsset: string; quoteAsset: string }) {
  const [isOpen, setOpen] = useState(false);
  const change = (opens: boolean) => {
    if (!opens) setOpen(false);
    // The focus goes to the first choice, which has to be there by then.
    else void load().finally(() => setOpen(true));
  };
  return (
    <Menu position="bottom-end" width={200} opened={isOpen} onChange={change}>
      <Menu.Target>
        <ActionIcon variant="default" size={30} aria-label={t("View of the order book")}>
          <KebabHorizontalIcon />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Suspense>
          <BookChoices {...assets} />
        </Suspense>
      </Menu.Dropdown>
    </Menu>
  );
}
