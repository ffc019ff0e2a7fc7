import { AppShell, Burger } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useEffect } from "react";
import { Link, useLocation } from "wouter";
import { DisplaySettings } from "#lib/components/DisplaySettings.tsx";
import { Brand, CONTENT_ID, HeaderTools, SkipLink } from "#lib/components/header.tsx";
import { Shortcuts } from "#lib/components/Shortcuts.tsx";
import { useShortcuts } from "#lib/shortcuts.ts";
import { refreshAll, useStats } from "../engine/queries.ts";
import type { Session } from "../engine/session.ts";
import { AccountMenu } from "./AccountMenu.tsx";
import { ConnectionState } from "./ConnectionState.tsx";
import classes from "./Frame.module.css";
import { isCurrent, NAVIGATION } from "./navigation.tsx";
import { SessionNotice } from "./SessionNotice.tsx";

const ENTRIES = NAVIGATION.flatMap(({ entries }) => entries);

/** What stands around every page: header, navigation, notices. */
export function Frame({ session, children }: { session: Session; children: ReactNode }) {
  const [isOpen, menu] = useDisclosure(false);
  const [location, navigate] = useLocation();
  const client = useQueryClient();
  // Keeps the dashboard's history, and notices when the engine falls silent, whatever page is open.
  useStats();
  const close = menu.close;
  useEffect(() => close(), [location, close]);
  const shortcuts = [
    { keys: "/", title: "Go to the first filter", run: focusFilter },
    { keys: "r", title: "Refresh what is shown", run: () => void refreshAll(client) },
    ...ENTRIES.map(({ path, title, key }) => ({ keys: `g ${key}`, title, run: () => navigate(path) })),
  ];
  useShortcuts(shortcuts);
  return (
    <AppShell
      header={{ height: 52 }}
      navbar={{ width: 224, breakpoint: "sm", collapsed: { mobile: !isOpen } }}
      padding={0}
      classNames={{ header: classes.header, navbar: classes.navbar }}
    >
      <SkipLink />
      <AppShell.Header>
        <Burger
          opened={isOpen}
          onClick={menu.toggle}
          hiddenFrom="sm"
          size="sm"
          aria-label={isOpen ? "Close the navigation" : "Open the navigation"}
        />
        <Brand label="dashboard" part="Console" />
        <HeaderTools>
          <ConnectionState />
          <Shortcuts shortcuts={shortcuts} />
          <DisplaySettings />
          <AccountMenu session={session} />
        </HeaderTools>
      </AppShell.Header>
      <AppShell.Navbar aria-label="Pages of the console">
        {NAVIGATION.map((group) => (
          <div key={group.title} className={classes.group} role="group" aria-label={group.title}>
            <span className={classes.groupTitle} aria-hidden>
              {group.title}
            </span>
            {group.entries.map((entry) => (
              <Link
                key={entry.path}
                href={entry.path}
                className={classes.entry}
                aria-current={isCurrent(entry, location) ? "page" : undefined}
              >
                <entry.icon size={16} />
                {entry.title}
              </Link>
            ))}
          </div>
        ))}
      </AppShell.Navbar>
      <AppShell.Main>
        <SessionNotice session={session} />
        <div id={CONTENT_ID} tabIndex={-1} className={classes.content}>
          {children}
        </div>
      </AppShell.Main>
    </AppShell>
  );
}

function focusFilter(): void {
  document.querySelector<HTMLElement>("[data-filters] input")?.focus();
}
