import { Title } from "@mantine/core";
import { type ReactNode, useId } from "react";
import classes from "./Card.module.css";

interface CardProps {
  title?: string;
  actions?: ReactNode;
  /** Leave the border to the content, as tables want. */
  flush?: boolean;
  children: ReactNode;
}

/** A surface with a heading of its own. */
export function Card({ title, actions, flush = false, children }: CardProps) {
  const id = useId();
  return (
    <section
      className={classes.card}
      data-flush={flush || undefined}
      aria-labelledby={title ? id : undefined}
    >
      {title && (
        <div className={classes.head}>
          <Title order={2} id={id}>
            {title}
          </Title>
          {actions}
        </div>
      )}
      {children}
    </section>
  );
}
