import { PageHeader } from "#lib/components/PageHeader.tsx";
import { EmptyState } from "#lib/components/states.tsx";
import { t } from "#lib/language.ts";
import { PageLink } from "../parts/PageLink.tsx";
import classes from "./PlainPage.module.css";

/** An address that is no page. */
export default function NotFoundPage() {
  return (
    <div className={classes.page}>
      <PageHeader title={t("Page not found")} />
      <EmptyState
        title={t("There is no page at this address")}
        action={<PageLink href="/">{t("Go to the markets")}</PageLink>}
      >
        {t("A market's address is /trade/BTC-USD, with capital letters.")}
      </EmptyState>
    </div>
  );
}
