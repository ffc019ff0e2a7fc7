import { Button, Menu } from "@mantine/core";
import { ChevronDownIcon } from "@primer/octicons-react";
import { useState } from "react";
import { t } from "#lib/language.ts";
import { isConditional, type OrderType } from "../api/orderKinds.ts";
import type { Conditional } from "./OrderFields.tsx";
import classes from "./OrderForm.module.css";
import { typeName } from "./labels.tsx";

interface TypeMenuProps {
  types: readonly OrderType[];
  type: OrderType;
  /** What is known of orders that wait for a price, once it is loaded. */
  conditional: Conditional | null;
  onOpen: () => Promise<unknown>;
  onType: (type: OrderType) => void;
}

/** The button that opens the list of all types; of one that waits for a price it says the name. */
export function TypeMenu({ types, type, conditional, onOpen, onType }: TypeMenuProps) {
  const [isOpen, setOpen] = useState(false);
  // The focus goes to the first type, which has to be there by then. A failed load leaves the button as it is.
  const open = () => void onOpen().then(() => setOpen(true));
  return (
    <Menu
      opened={isOpen}
      onChange={(next) => (next ? open() : setOpen(false))}
      position="bottom-end"
      width={320}
    >
      <Menu.Target>
        <Button
          variant={isConditional(type) ? "light" : "default"}
          size="xs"
          rightSection={<ChevronDownIcon size={12} />}
          className={classes.types}
          aria-label={
            isConditional(type)
              ? t("Order type: {typeName}, choose another", { typeName: typeName(type) })
              : t("All order types")
          }
        >
          {isConditional(type) ? typeName(type) : t("More")}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {conditional && <conditional.TypeChoices types={types} type={type} onType={onType} />}
      </Menu.Dropdown>
    </Menu>
  );
}
