import type { ReactNode } from "react";
import { DisplaySettings } from "./DisplaySettings.tsx";
import classes from "./FormLayout.module.css";

interface FormLayoutProps {
  /** The logo, or a link with it. */
  mark: ReactNode;
  heading: ReactNode;
  text?: ReactNode;
  children: ReactNode;
  footer?: ReactNode;
}

/** A small page around one form, without header and navigation. */
export function FormLayout({ mark, heading, text, children, footer }: FormLayoutProps) {
  return (
    <main className={classes.page}>
      <div className={classes.corner}>
        <DisplaySettings />
      </div>
      <div className={classes.box}>
        <div className={classes.head}>
          {mark}
          {heading}
          {text && <p>{text}</p>}
        </div>
        <div className={classes.card}>{children}</div>
        {footer && <div className={classes.footer}>{footer}</div>}
      </div>
    </main>
  );
}
