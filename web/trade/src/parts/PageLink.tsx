import type { ReactNode } from "react";
import { Link } from "wouter";
import classes from "./PageLink.module.css";

/** A link to another page of the trading screen. */
export function PageLink({ href, children }: { href: string; children: ReactNode }) {
  return (
    <Link href={href} className={classes.link}>
      {children}
    </Link>
  );
}
