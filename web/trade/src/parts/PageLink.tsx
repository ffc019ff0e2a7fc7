import type { ReactNode } from "react";
import { Link } from "wouter";
import classes from "./PageLink.module.css";

interface PageLinkProps {
  href: string;
  /** What else happens: a list closes that the link stands in. */
  onClick?: () => void;
  children: ReactNode;
}

/** A link to another page of the trading screen. */
export function PageLink({ href, onClick, children }: PageLinkProps) {
  return (
    <Link href={href} className={classes.link} {...(onClick ? { onClick } : {})}>
      {children}
    </Link>
  );
}
