import { Button } from "@mantine/core";
import { type ReactNode, useEffect, useRef } from "react";
import { Link, useLocation } from "wouter";
import { DisplaySettings } from "#lib/components/DisplaySettings.tsx";
import { Brand, CONTENT_ID, HeaderTools, SkipLink } from "#lib/components/header.tsx";
import { Shortcuts } from "#lib/components/Shortcuts.tsx";
import { useSession } from "../api/session.ts";
import { AccountMenu } from "./AccountMenu.tsx";
import classes from "./Frame.module.css";
import { LinkState } from "./LinkState.tsx";
import { NAVIGATION } from "./navigation.ts";
import { SessionNotice } from "./SessionNotice.tsx";
import { SHORTCUTS } from "./shortcuts.ts";

/** What stands around every page: header, navigation, connection. */
export function Frame({ children }: { children: ReactNode }) {
  const { session } = useSession();
  const [location] = useLocation();
  const navigation = useRef<HTMLElement>(null);
  // On a phone the entries are a strip that is wider than the window.
  useEffect(() => {
    navigation.current
      ?.querySelector("[aria-current=page]")
      ?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [location]);
  return (
    <>
      <SkipLink />
      <header className={classes.header}>
        <Brand label="OpenSpot, markets" />
        <nav ref={navigation} className={classes.navigation} aria-label="Pages">
          {NAVIGATION.map(({ path, title, isAt }) => (
            <Link
              key={path}
              href={path}
              className={classes.entry}
              aria-current={isAt(location) ? "page" : undefined}
            >
              {title}
            </Link>
          ))}
        </nav>
        <HeaderTools>
          <LinkState />
          <Shortcuts shortcuts={SHORTCUTS} />
          <DisplaySettings />
          {session ? (
            <AccountMenu session={session} />
          ) : (
            <>
              <Button component={Link} href={`/login?next=${location}`} variant="default" size="xs">
                Log in
              </Button>
              <Button
                component={Link}
                href={`/register?next=${location}`}
                size="xs"
                className={classes.register}
              >
                Register
              </Button>
            </>
          )}
        </HeaderTools>
      </header>
      <SessionNotice />
      <main id={CONTENT_ID} tabIndex={-1}>
        {children}
      </main>
    </>
  );
}
