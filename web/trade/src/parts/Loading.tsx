import { Loader } from "@mantine/core";
import { rich, t } from "#lib/language.ts";
import classes from "./Loading.module.css";

/** A page is on its way. */
export function Loading({ what = t("the page") }: { what?: string }) {
  return (
    <div className={classes.loading} role="status" aria-busy>
      <Loader size="sm" aria-hidden />
      <span>{rich("Loading {what}…", { what })}</span>
    </div>
  );
}
