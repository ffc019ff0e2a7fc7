import { Redirect, useSearch } from "wouter";
import { pageOfAddress } from "../api/notices.ts";
import { keptSymbol } from "../market/preferences.ts";

/** Leads on to the page that a clicked notification is about, or else to the market that was looked at last. */
export default function NoticedPage() {
  return <Redirect to={pageOfAddress(useSearch()) ?? `/${keptSymbol()}`} replace />;
}
