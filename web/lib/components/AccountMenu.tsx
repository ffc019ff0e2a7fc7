import { Button, Menu } from "@mantine/core";
import { ChevronDownIcon, PersonIcon, SignOutIcon } from "@primer/octicons-react";
import { type ReactNode, useState } from "react";
import { t } from "../language.ts";
import classes from "./AccountMenu.module.css";

interface AccountMenuProps {
  /** Who is logged in, as the header shows it. */
  name: string;
  /** What the open menu says about the account. */
  children: ReactNode;
  /** An item of the menu before the way out. */
  further?: ReactNode;
  /** Ends the session, and does not fail. */
  onLogout: () => Promise<void>;
}

/** Who is logged in, and the way out. */
export function AccountMenu({ name, children, further, onLogout }: AccountMenuProps) {
  const [isBusy, setBusy] = useState(false);
  const logout = () => {
    setBusy(true);
    void onLogout().finally(() => setBusy(false));
  };
  return (
    <Menu width={240}>
      <Menu.Target>
        <Button
          variant="subtle"
          color="gray"
          loading={isBusy}
          leftSection={<PersonIcon />}
          rightSection={<ChevronDownIcon size={12} />}
          className={classes.button}
          aria-label={t("Account of {name}", { name })}
        >
          <span className={classes.name}>{name}</span>
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <div className={classes.about}>{children}</div>
        <Menu.Divider />
        {further}
        <Menu.Item leftSection={<SignOutIcon />} onClick={logout}>
          {t("Log out")}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
