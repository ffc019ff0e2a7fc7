import type { ReactNode } from "react";
import { Amount } from "#lib/components/Amount.tsx";
import { t } from "#lib/language.ts";
import { percentOfRate } from "#lib/rates.ts";
import { ceilTo, ONE, scaledText, toScaled } from "#lib/scaled.ts";
import orderForm from "../orders/OrderForm.module.css";
import { AssetAmount } from "../parts/AssetAmount.tsx";
import { availableMargin, inCents, readablePrice } from "./figures.ts";
import { LevelText } from "./LevelText.tsx";
import type { OpeningBody, OpeningEstimate } from "./opening.ts";
import type { MarginAccount } from "./queries.ts";

const CENT = ONE / 100n;

/** What the account pays, rounded so that it and the shown loan are the shown worth. */
function paidText({ notional, borrowed }: OpeningEstimate): string {
  return scaledText(toScaled(inCents(notional)) - toScaled(inCents(borrowed)));
}

/** Shows value, margin and loan of the position, and the level of the account afterwards. */
export function OpeningFigures({
  side,
  estimate,
  account,
  quote,
}: {
  side: OpeningBody["side"];
  estimate: OpeningEstimate | null;
  account: MarginAccount;
  quote: string;
}) {
  const unit = account.valuationAsset;
  const available = availableMargin(account);
  const borrowedText = (amount: bigint, asset: string) =>
    asset === quote ? inCents(amount) : scaledText(amount);
  const rows: [name: string, value: ReactNode][] = [
    [
      t("Margin available"),
      available === null ? null : <Amount value={inCents(available)} unit={unit} places={2} />,
    ],
    [t("Fair price"), estimate && <Amount value={readablePrice(estimate.price)} unit={quote} places={2} />],
    [t("Worth, about"), estimate && <Amount value={inCents(estimate.notional)} unit={quote} places={2} />],
    [
      t("Your margin for it"),
      estimate && <Amount value={scaledText(ceilTo(estimate.required, CENT))} unit={unit} places={2} />,
    ],
    // A short pays nothing: it sells what it borrows.
    ...(side === "buy"
      ? [
          [
            t("Paid from your own {quote}", { quote }),
            estimate && <Amount value={paidText(estimate)} unit={quote} places={2} />,
          ] satisfies [string, ReactNode],
        ]
      : []),
    [
      t("Borrowed, about"),
      estimate &&
        (estimate.borrowed === 0n ? (
          t("nothing")
        ) : (
          <Amount
            value={borrowedText(estimate.borrowed, estimate.borrowedAsset)}
            unit={estimate.borrowedAsset}
          />
        )),
    ],
    [
      t("Interest a day ({rate} a year)", { rate: percentOfRate(account.borrowRate) }),
      estimate && <AssetAmount value={scaledText(estimate.dailyInterest)} asset={estimate.borrowedAsset} />,
    ],
    [
      t("Maintenance margin"),
      estimate && <Amount value={scaledText(ceilTo(estimate.maintenance, CENT))} unit={unit} places={2} />,
    ],
    [t("Level afterwards"), estimate && <LevelText level={estimate.level} />],
    [
      t("Liquidated near"),
      estimate &&
        (estimate.liquidationPrice === null ? (
          t("no price")
        ) : (
          <Amount value={readablePrice(estimate.liquidationPrice)} unit={quote} places={2} />
        )),
    ],
  ];
  return (
    <dl className={orderForm.figures}>
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd className="figures">{value ?? "–"}</dd>
        </div>
      ))}
    </dl>
  );
}
