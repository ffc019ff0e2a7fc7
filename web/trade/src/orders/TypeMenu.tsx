import { Button, Menu } from "@mantine/core";
import { ChevronDownIcon } from "@primer/octicons-react";
import { useState } from "react";
import { t } from "#lib/language.ts";
import { isConditional } from "../api/orderKinds.ts";
import classes from "./OrderForm.module.css";
import { typeName } from "./labels.ts";
import type { Offer } from "./offer.ts";
import type { Draft } from "./draft.ts";

/** The form's part for orders that wait for a price, which is loaded when somebody looks for them. */
export type Conditional = typeof import("./conditionalParts.tsx");

interface TypeMenuProps {
  offer: Offer;
  draft: Draft;
  /** What is known of orders that wait for a price, once it is loaded. */
  conditional: Conditional | null;
  /** Whether it could be loaded. */
  onOpen: () => Promise<boolean>;
  onDraft: (changes: Partial<Draft>) => void;
}

/** The button that opens the list of all types; of one that waits for a price it says the name. */
export function TypeMenu({ offer, draft, conditional, onOpen, onDraft }: TypeMenuProps) {
  const name = draft.isOco ? typeName("OCO") : isConditional(draft.type) ? typeName(draft.type) : null;
  const [isOpen, setOpen] = useState(false);
  // The focus goes to the first type, which has to be there by then. A failed load leaves the button as it is.
  const open = () => void onOpen().then(setOpen);
  return (
    <Menu
      opened={isOpen}
      onChange={(next) => (next ? open() : setOpen(false))}
      position="bottom-end"
      width={320}
    >
      <Menu.Target>
        <Button
          variant={name === null ? "default" : "light"}
          size="xs"
          rightSection={<ChevronDownIcon size={12} />}
          className={classes.types}
          aria-label={
            name === null
              ? t("More order types")
              : t("Order type: {typeName}, choose another", { typeName: name })
          }
        >
          {name ?? t("More")}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {conditional && <conditional.TypeChoices offer={offer} draft={draft} onDraft={onDraft} />}
      </Menu.Dropdown>
    </Menu>
  );
}
