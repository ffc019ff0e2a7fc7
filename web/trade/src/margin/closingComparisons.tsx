import type { ReactNode } from "react";
import { Amount } from "#lib/components/Amount.tsx";
import { t } from "#lib/language.ts";
import { scaledText, toScaled } from "#lib/scaled.ts";
import { AssetAmount } from "../parts/AssetAmount.tsx";
import { type Closing, loanOf } from "./closing.ts";
import { holdingsOf, liquidationPrice, marksOf, readablePrice } from "./figures.ts";
import { LevelText } from "./LevelText.tsx";
import { levelAfter, owedOf } from "./moves.ts";
import type { MarginAccount, MarginPosition } from "./queries.ts";

interface Comparison {
  name: string;
  before: ReactNode;
  after: ReactNode;
}

/** What closing of positions of one market and side changes; `after` is null while it is not known. */
export function closingComparisons(
  positions: readonly MarginPosition[],
  account: MarginAccount,
  left: bigint | null,
  after: Closing | null,
): Comparison[] {
  const [first] = positions;
  if (first === undefined) return [];
  const [base = "", quote = ""] = first.symbol.split("-");
  const marks = marksOf(account);
  const open = positions.reduce((sum, { quantity }) => sum + toScaled(quantity), 0n);
  const loans = positions.flatMap((position) => loanOf(position, account) ?? []);
  const owed = loans.reduce((sum, loan) => sum + owedOf(loan), 0n);
  const [loan] = loans;
  const priceText = (price: bigint | null) =>
    price === null ? "–" : <Amount value={readablePrice(price)} unit={quote} places={2} />;
  return [
    {
      name: t("Quantity"),
      before: <AssetAmount value={scaledText(open)} asset={base} />,
      after: left === null ? "–" : <AssetAmount value={scaledText(left)} asset={base} />,
    },
    ...(loan
      ? [
          {
            name: loans.length === 1 ? t("Its loan, with interest") : t("Their loans, with interest"),
            before: <AssetAmount value={scaledText(owed)} asset={loan.asset} />,
            after: after ? <AssetAmount value={scaledText(after.owed)} asset={loan.asset} /> : "–",
          },
        ]
      : []),
    {
      name: t("Level, about"),
      before: <LevelText level={levelAfter(account, marks, base, {})} />,
      after: after ? <LevelText level={after.level} /> : "–",
    },
    {
      name: t("Liquidated near"),
      before: priceText(liquidationPrice(holdingsOf(account.balances), marks, base, quote)),
      after: priceText(after?.liquidationPrice ?? null),
    },
  ];
}
