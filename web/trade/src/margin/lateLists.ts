/** The margin lists of the trading screen, loaded when somebody opens them. */
import { lazy } from "react";

const lists = () => import("./ScreenLists.tsx");

export const MarginPositions = lazy(() => lists().then((found) => ({ default: found.MarginPositions })));
export const AllPositions = lazy(() => lists().then((found) => ({ default: found.AllPositions })));
export const MarginBalances = lazy(() => lists().then((found) => ({ default: found.MarginBalances })));
