import { Link, useLocation } from "wouter";
import classes from "./FundsNavigation.module.css";

const PAGES = [
  { path: "/wallet", title: "Balances" },
  { path: "/portfolio", title: "Portfolio" },
  { path: "/withdrawals", title: "Withdraw" },
  { path: "/staking", title: "Staking" },
  { path: "/history", title: "History" },
] as const;

/** The pages about the user's money, beside each other. */
export function FundsNavigation() {
  const [location] = useLocation();
  return (
    <nav className={classes.bar} aria-label="Funds">
      {PAGES.map(({ path, title }) => (
        <Link key={path} href={path} aria-current={location === path ? "page" : undefined}>
          {title}
        </Link>
      ))}
    </nav>
  );
}
