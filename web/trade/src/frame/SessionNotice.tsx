import { AlertIcon } from "@primer/octicons-react";
import { Link, useLocation } from "wouter";
import { NoticeBar } from "#lib/components/NoticeBar.tsx";
import { t } from "#lib/language.ts";
import { useSession } from "../api/session.ts";

/** Says that the session has ended by itself: public prices go on, so nothing else would show it. */
export function SessionNotice() {
  const { session, ending } = useSession();
  const [location] = useLocation();
  if (session !== null || (ending !== "expired" && ending !== "elsewhere")) return null;
  return (
    <NoticeBar icon={AlertIcon}>
      <p role="alert">
        {ending === "expired"
          ? t("Your session has ended. Your orders stay in the book.")
          : t("You logged out in another tab. Your orders stay in the book.")}{" "}
        <Link href={`/login?next=${location}`}>{t("Log in again")}</Link>
      </p>
    </NoticeBar>
  );
}
