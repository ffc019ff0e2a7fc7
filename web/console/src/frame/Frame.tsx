import { AppShell, Burger } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useEffect } from "react";
import { Link, useLocation } from "wouter";
import { DisplaySettings } from "#lib/components/DisplaySettings.tsx";
import { Brand, CONTENT_ID, HeaderTools, SkipLink } from "#lib/components/header.tsx";
import { PageBoundary } from "#lib/components/PageBoundary.tsx";
import { Shortcuts } from "#lib/components/Shortcuts.tsx";
import { useShortcuts } from "#lib/shortcuts.ts";
import { refreshAll, useStats } from "../engine/queries.ts";
import { useSession } from "../engine/session.ts";
import { usePermissionRefresh } from "../operator/queries.ts";
import { AccountMenu } from "./AccountMenu.tsx";
import { ConnectionState } from "./ConnectionState.tsx";
import classes from "./Frame.module.css";
import { Guarded, useOpens } from "./Guarded.tsx";
import { isCurrent, NAVIGATION } from "./navigation.tsx";
import { SessionNotice } from "./SessionNotice.tsx";

/** What stands around every page: header, navigation, notices. */
export function Frame({ children }: { children: ReactNode }) {
  const { session } = useSession();
  const opens = useOpens();
  const [isOpen, menu] = useDisclosure(false);
  const [location, navigate] = useLocation();
  const client = useQueryClient();
  // Keeps the dashboard's history, and notices when the engine falls silent, whatever page is open.
  useStats(session !== null);
  usePermissionRefresh();
  const groups = NAVIGATION.map((group) => ({ ...group, entries: group.entries.filter(opens) })).filter(
    ({ entries }) => entries.length > 0,
  );
  const entries = groups.flatMap((group) => group.entries);
  const close = menu.close;
  useEffect(() => close(), [location, close]);
  const shortcuts = [
    { keys: "/", title: "Go to the first filter", run: focusFilter },
    { keys: "r", title: "Refresh what is shown", run: () => void refreshAll(client) },
    ...entries.map(({ path, title, key }) => ({ keys: `g ${key}`, title, run: () => navigate(path) })),
  ];
  useShortcuts(shortcuts);
  return (
    <AppShell
      header={{ height: 52 }}
      // Beside the navigation the lists of a small desk would have too little room.
      navbar={{ width: 224, breakpoint: "lg", collapsed: { mobile: !isOpen } }}
      padding={0}
      classNames={{ header: classes.header, navbar: classes.navbar }}
    >
      <SkipLink />
      <AppShell.Header>
        <Burger
          opened={isOpen}
          onClick={menu.toggle}
          hiddenFrom="lg"
          size="sm"
          aria-label={isOpen ? "Close the navigation" : "Open the navigation"}
        />
        <Brand label="dashboard" part="Console" />
        <HeaderTools>
          {session && <ConnectionState />}
          <Shortcuts shortcuts={shortcuts} />
          <DisplaySettings />
          <AccountMenu />
        </HeaderTools>
      </AppShell.Header>
      <AppShell.Navbar aria-label="Pages of the console">
        {groups.map((group) => (
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
        {session && <SessionNotice session={session} />}
        <div id={CONTENT_ID} tabIndex={-1} className={classes.content}>
          <PageBoundary location={location}>
            <Guarded location={location}>{children}</Guarded>
          </PageBoundary>
        </div>
      </AppShell.Main>
    </AppShell>
  );
}

function focusFilter(): void {
  document.querySelector<HTMLElement>("[data-filters] input")?.focus();
}
