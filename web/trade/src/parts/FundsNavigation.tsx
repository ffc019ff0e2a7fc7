import { Link, useLocation } from "wouter";
import { t } from "#lib/language.ts";
import { FUNDS_PAGES } from "./fundsPages.ts";
import classes from "./FundsNavigation.module.css";

/** The pages about the user's money, beside each other. */
export function FundsNavigation() {
  const [location] = useLocation();
  return (
    <nav className={classes.bar} aria-label={t("Funds")}>
      {FUNDS_PAGES.map(({ path, title }) => (
        <Link key={path} href={path} aria-current={location === path ? "page" : undefined}>
          {title}
        </Link>
      ))}
    </nav>
  );
}
