import { Loader } from "@mantine/core";
import classes from "./Loading.module.css";

/** A page is on its way. */
export function Loading({ what = "the page" }: { what?: string }) {
  return (
    <div className={classes.loading} role="status" aria-busy>
      <Loader size="sm" aria-hidden />
      <span>Loading {what}…</span>
    </div>
  );
}
