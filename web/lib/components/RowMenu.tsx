import { Menu } from "@mantine/core";
import { KebabHorizontalIcon } from "@primer/octicons-react";
import { type ReactNode, type Ref, type SyntheticEvent, useId, useImperativeHandle, useState } from "react";
import { t } from "../language.ts";
import classes from "./RowMenu.module.css";

export interface RowAction {
  label: string;
  icon?: ReactNode;
  onClick: () => void;
  danger?: boolean;
  /** Why the action cannot be used now; it stays readable. */
  disabledReason?: string | undefined;
}

interface RowMenuProps {
  /** What the row is called in the button's name. */
  name: string;
  actions: readonly RowAction[];
}

/** What can be done with a row. A list has hundreds: the menu is made when its button is first pointed at or focused. */
export function RowMenu({ name, actions }: RowMenuProps) {
  const id = useId();
  const [button, setButton] = useState<HTMLButtonElement | null>(null);
  const [isOpen, setOpen] = useState(false);
  const make = ({ currentTarget }: SyntheticEvent<HTMLButtonElement>) => setButton(currentTarget);
  return (
    <>
      <button
        type="button"
        // The names that the library gives to a menu's button and to its list.
        id={`${id}-target`}
        className={classes.button}
        aria-label={t("Actions for {name}", { name })}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-controls={isOpen ? `${id}-dropdown` : undefined}
        onPointerEnter={make}
        onFocus={make}
        onClick={(event) => {
          make(event);
          setOpen(!isOpen);
        }}
      >
        <KebabHorizontalIcon />
      </button>
      {button && (
        // What is loaded above can move the row out of sight. A menu that were hidden then would lose the keyboard's focus.
        <Menu id={id} opened={isOpen} onChange={setOpen} hideDetached={false}>
          <Menu.Target>
            <Drawn element={button} />
          </Menu.Target>
          <Menu.Dropdown>
            {actions.map(({ label, icon, onClick, danger, disabledReason }) => (
              <Menu.Item
                key={label}
                leftSection={icon}
                data-danger={danger ? true : undefined}
                aria-disabled={disabledReason !== undefined}
                data-unavailable={disabledReason !== undefined || undefined}
                closeMenuOnClick={disabledReason === undefined}
                className={classes.action}
                onClick={disabledReason === undefined ? onClick : undefined}
              >
                {label}
                {disabledReason !== undefined && <span className={classes.reason}>{disabledReason}</span>}
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
      )}
    </>
  );
}

/** Gives the library the button that is there already, where it would make one. */
function Drawn({ element, ref }: { element: HTMLButtonElement; ref?: Ref<HTMLButtonElement> }) {
  useImperativeHandle(ref, () => element, [element]);
  return null;
}
