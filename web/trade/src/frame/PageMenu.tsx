import { Button, Menu } from "@mantine/core";
import { ChevronDownIcon } from "@primer/octicons-react";
import { Link } from "wouter";
import { t } from "#lib/language.ts";
import classes from "./Frame.module.css";
import { NAVIGATION } from "./navigation.ts";

/** The pages of the header where they do not fit beside each other. */
export function PageMenu({ location }: { location: string }) {
  const current = NAVIGATION.find(({ isAt }) => isAt(location));
  return (
    <Menu position="bottom-start" width={200}>
      <Menu.Target>
        <Button
          variant="default"
          rightSection={<ChevronDownIcon />}
          aria-label={
            current ? t("Page: {title}, choose another", { title: current.title }) : t("Choose a page")
          }
        >
          {current?.title ?? t("Pages")}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {NAVIGATION.map(({ path, title }) => (
          <Menu.Item
            key={path}
            component={Link}
            href={path}
            className={classes.choice}
            aria-current={path === current?.path ? "page" : undefined}
          >
            {title}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
