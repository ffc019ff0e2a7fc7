import type { ReactNode, Ref } from "react";
import classes from "./Panel.module.css";

/** A part of the trading screen with a small heading. */
export function Panel({
  title,
  tools,
  children,
  className = "",
  ref,
}: {
  title: string;
  tools?: ReactNode;
  children: ReactNode;
  className?: string | undefined;
  ref?: Ref<HTMLElement>;
}) {
  return (
    <section className={`${classes.panel ?? ""} ${className}`} aria-label={title} ref={ref}>
      <div className={classes.head}>
        <h2 className={classes.title}>{title}</h2>
        {tools}
      </div>
      <div className={classes.body}>{children}</div>
    </section>
  );
}
