import { useEffect } from "react";
import type { Level } from "../market/own.ts";
import { linesOf } from "./lines.ts";
import { useMarginAccount, useMarginPushes } from "./queries.ts";

const NONE: readonly Level[] = [];

interface MarginLevelsProps {
  symbol: string;
  onLevels: (levels: readonly Level[]) => void;
}

/** Tells the chart which prices matter to the margin positions of a market, whether or not their form is shown. */
export default function MarginLevels({ symbol, onLevels }: MarginLevelsProps) {
  const { data: account } = useMarginAccount();
  useMarginPushes();
  // As text, so that an account that is read again with the same lines changes nothing.
  const lines = JSON.stringify(account ? linesOf(symbol, account) : NONE);
  useEffect(() => onLevels(JSON.parse(lines) as readonly Level[]), [lines, onLevels]);
  useEffect(() => () => onLevels(NONE), [onLevels]);
  return null;
}
