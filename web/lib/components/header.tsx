import type { ReactNode } from "react";
import { Link } from "wouter";
import { t } from "../language.ts";
import { useBrand } from "../brand.ts";
import classes from "./header.module.css";
import { Logo } from "./Logo.tsx";

/** The id of what is no header and no navigation; the frame sets it. */
export const CONTENT_ID = "content";

/** The way past the navigation for the keyboard. */
export function SkipLink() {
  return (
    <a className={classes.skip} href={`#${CONTENT_ID}`}>
      {t("Skip to the content")}
    </a>
  );
}

interface BrandProps {
  /** Where the link leads: "markets". */
  label: string;
  /** The application's name behind the product's. */
  part?: string;
}

/** The mark and the name of the exchange; it leads to the first page. */
export function Brand({ label, part }: BrandProps) {
  const { name } = useBrand();
  return (
    <Link
      href="/"
      className={classes.brand}
      aria-label={`${name}${part ? ` ${part.toLowerCase()}` : ""}, ${label}`}
    >
      <Logo />
      <span className={classes.product}>{name}</span>
      {part !== undefined && <span className={classes.part}>{part}</span>}
    </Link>
  );
}

/** What stands at the right end of the header. */
export function HeaderTools({ children }: { children: ReactNode }) {
  return <div className={classes.tools}>{children}</div>;
}
