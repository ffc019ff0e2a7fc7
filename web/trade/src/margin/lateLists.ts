/** The margin lists of the trading screen, loaded when somebody opens them. */
import { createElement } from "react";
import { late } from "#lib/components/late.tsx";
import { t } from "#lib/language.ts";
import { Loading } from "../parts/Loading.tsx";

const lists = () => import("./ScreenLists.tsx");
const waiting = () => createElement(Loading, { what: t("your positions") });

export const MarginPositions = late(() => lists().then((found) => ({ default: found.MarginPositions })), {
  waiting,
});
export const AllPositions = late(() => lists().then((found) => ({ default: found.AllPositions })), {
  waiting,
});
export const MarginBalances = late(() => lists().then((found) => ({ default: found.MarginBalances })), {
  waiting: () => createElement(Loading, { what: t("your balances") }),
});
