import { Button } from "@mantine/core";
import { type ReactNode, useRef } from "react";
import { Link, useLocation } from "wouter";
import { useBrand } from "#lib/brand.ts";
import { DisplaySettings } from "#lib/components/DisplaySettings.tsx";
import { Brand, CONTENT_ID, HeaderTools, SkipLink } from "#lib/components/header.tsx";
import { PageBoundary } from "#lib/components/PageBoundary.tsx";
import { Shortcuts } from "#lib/components/Shortcuts.tsx";
import { late, MissingSign } from "#lib/components/late.tsx";
import { t } from "#lib/language.ts";
import { useSession } from "../api/session.ts";
import { AccountMenu } from "./AccountMenu.tsx";
import classes from "./Frame.module.css";
import { LinkState } from "./LinkState.tsx";
import { NAVIGATION } from "./navigation.ts";
import { PageMenu } from "./PageMenu.tsx";
import { SessionNotice } from "./SessionNotice.tsx";
import { SHORTCUTS } from "./shortcuts.ts";
import { useCrowded } from "./useCrowded.ts";

const Notices = late(() => import("./Notices.tsx"), {
  waiting: () => <span className={classes.bell} />,
  Missing: MissingSign,
});

/** It fills the window: a footer would only be below it. */
const [MARKET_PAGE] = NAVIGATION;

/** What stands around every page: header, navigation, connection. */
export function Frame({ children }: { children: ReactNode }) {
  const { session } = useSession();
  const brand = useBrand();
  const [location] = useLocation();
  const box = useRef<HTMLDivElement>(null);
  const row = useRef<HTMLElement>(null);
  const isCrowded = useCrowded(box, row);
  return (
    <>
      <SkipLink />
      <header className={classes.header}>
        <Brand label={t("markets")} />
        <div className={classes.pages} ref={box} data-crowded={isCrowded || undefined}>
          <nav className={classes.navigation} ref={row} aria-label={t("Pages")}>
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
          {isCrowded && <PageMenu location={location} />}
        </div>
        <HeaderTools>
          <LinkState />
          <Shortcuts shortcuts={SHORTCUTS} />
          <DisplaySettings />
          {session ? (
            <>
              <Notices key={session.userId} userId={session.userId} />
              <AccountMenu session={session} />
            </>
          ) : (
            <>
              <Button component={Link} href={`/login?next=${location}`} variant="default" size="xs">
                {t("Log in")}
              </Button>
              <Button
                component={Link}
                href={`/register?next=${location}`}
                size="xs"
                className={classes.register}
              >
                {t("Register")}
              </Button>
            </>
          )}
        </HeaderTools>
      </header>
      <SessionNotice />
      <main id={CONTENT_ID} tabIndex={-1}>
        <PageBoundary location={location}>{children}</PageBoundary>
      </main>
      {!MARKET_PAGE.isAt(location) && (
        <footer className={classes.footer}>
          <Link href="/fees">{t("Fees")}</Link>
          <Link href="/status">{t("Status")}</Link>
          {[...brand.legal, ...brand.links].map(({ title, url }) => (
            <a key={url} href={url}>
              {title}
            </a>
          ))}
        </footer>
      )}
    </>
  );
}
