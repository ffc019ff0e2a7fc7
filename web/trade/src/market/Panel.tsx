import type { ReactNode } from "react";
import classes from "./Panel.module.css";

/** A part of the trading screen with a small heading. */
export function Panel({
  title,
  tools,
  children,
  className = "",
}: {
  title: string;
  tools?: ReactNode;
  children: ReactNode;
  className?: string | undefined;
}) {
  return (
    <section className={`${classes.panel ?? ""} ${className}`} aria-label={title}>
      <div className={classes.head}>
        <h2 className={classes.title}>{title}</h2>
        {tools}
      </div>
      <div className={classes.body}>{children}</div>
    </section>
  );
}
