import { Title } from "@mantine/core";
import type { ReactNode } from "react";
import { usePageHeading } from "../pageTitle.ts";
import classes from "./PageHeader.module.css";

interface PageHeaderProps {
  title: string;
  /** One sentence about what the page shows. */
  children?: ReactNode;
  actions?: ReactNode;
}

/** The name of a page. It takes the focus when the page opens, so that the keyboard and screen readers begin here. */
export function PageHeader({ title, children, actions }: PageHeaderProps) {
  const heading = usePageHeading(title);
  return (
    <header className={classes.header}>
      <div>
        <Title order={1} ref={heading} tabIndex={-1} className={classes.title}>
          {title}
        </Title>
        {children && <p className={classes.text}>{children}</p>}
      </div>
      {actions && <div className={classes.actions}>{actions}</div>}
    </header>
  );
}
