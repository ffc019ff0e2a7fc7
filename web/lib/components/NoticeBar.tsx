import type { Icon } from "@primer/octicons-react";
import type { ReactNode } from "react";
import classes from "./NoticeBar.module.css";

/** A line below the header that stays in view until its reason is gone. */
export function NoticeBar({ icon: Sign, children }: { icon: Icon; children: ReactNode }) {
  return (
    <div className={classes.notice}>
      <Sign />
      {children}
    </div>
  );
}
