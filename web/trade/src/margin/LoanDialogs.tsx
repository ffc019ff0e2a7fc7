import { SegmentedControl, Select } from "@mantine/core";
import { useState } from "react";
import { ConfirmDialog } from "#lib/components/ConfirmDialog.tsx";
import { DecimalField } from "#lib/components/DecimalField.tsx";
import { WarningNote } from "#lib/components/states.tsx";
import { toastDone } from "#lib/components/toasts.tsx";
import { formatDecimal } from "#lib/decimal.ts";
import { rich, t } from "#lib/language.ts";
import { scaledText, toScaled } from "#lib/scaled.ts";
import { percentOfRate } from "#lib/rates.ts";
import { returned, useExchange } from "../api/client.ts";
import { PercentButtons } from "../parts/PercentButtons.tsx";
import { useAssets } from "./assets.ts";
import { cutTo, isUnderWay, marksOf } from "./figures.ts";
import { LevelText } from "./LevelText.tsx";
import { balanceOf, borrowFault, levelAfter, mostBorrowed, owedOf, readAmount, repayFault } from "./moves.ts";
import { type MarginAccount, type MarginLoan, useMarginRequest } from "./queries.ts";
import { AssetAmount } from "../parts/AssetAmount.tsx";
import { amountText } from "../parts/assetPlaces.ts";

const askAgain = () => t("Ask again what became of it");

/** Borrows from the lending pool, without a position. */
export function BorrowDialog({ account, onClose }: { account: MarginAccount; onClose: () => void }) {
  const { rest } = useExchange();
  const { names, placesOf } = useAssets();
  const marks = marksOf(account);
  const [asset, setAsset] = useState("");
  const [text, setText] = useState("");
  const places = placesOf(asset);
  const most = mostBorrowed(account, asset, marks);
  const amount = readAmount(text.trim(), places);
  const request = useMarginRequest(
    (requestId) =>
      returned(rest.POST("/api/v1/margin/loans", { body: { asset, amount: text.trim(), requestId } })),
    () => {
      toastDone(
        t("Borrowed"),
        t("{text} {asset} are in your margin account.", { text: formatDecimal(text.trim()), asset }),
      );
      onClose();
    },
  );
  const fault = borrowFault(amount, { asset, most, places });
  const borrowed = fault === null && typeof amount === "bigint" ? amount : null;
  const { borrowed: principal, interest } = balanceOf(account, asset);
  const owed = toScaled(principal) + toScaled(interest);
  const rate = account.loans[0]?.rate;
  return (
    <ConfirmDialog
      title={t("Borrow")}
      operator=""
      confirm={request.isUnknown ? askAgain() : t("Borrow it")}
      isBusy={request.isPending}
      problem={request.problem}
      missing={request.isUnknown ? [] : [fault ?? false]}
      comparisons={
        asset === "" || request.isUnknown
          ? []
          : [
              {
                name: t("Owed of {asset}", { asset }),
                before: <AssetAmount value={scaledText(owed)} asset={asset} />,
                after:
                  borrowed === null ? "–" : <AssetAmount value={scaledText(owed + borrowed)} asset={asset} />,
              },
              {
                name: t("Level, about"),
                before: <LevelText level={levelAfter(account, marks, asset, {})} />,
                after:
                  borrowed === null ? (
                    "–"
                  ) : (
                    <LevelText
                      level={levelAfter(account, marks, asset, { held: borrowed, owed: borrowed })}
                    />
                  ),
              },
            ]
      }
      onConfirm={() => request.mutate()}
      onClose={onClose}
    >
      <p>
        {rich("The loan runs until you repay it. Its interest is simple and grows every minute{rate}.", {
          rate:
            rate === undefined
              ? t("; the list of loans shows the yearly rate")
              : t(". Your last loan: {percentOfRate} a year", { percentOfRate: percentOfRate(rate) }),
        })}
      </p>
      <Select
        label={t("Asset")}
        searchable
        placeholder={t("Choose an asset")}
        nothingFoundMessage={t("No asset of that name")}
        disabled={request.isUnknown}
        data={names}
        value={asset || null}
        onChange={(value) => {
          setAsset(value ?? "");
          setText("");
        }}
      />
      <DecimalField
        label={t("Amount")}
        description={
          asset === ""
            ? t("Choose an asset first.")
            : typeof most === "bigint"
              ? t("You can borrow {cutTo} {asset}, if the pool has it", {
                  cutTo: formatDecimal(cutTo(most, places)),
                  asset,
                })
              : t("Nothing can be borrowed now: {reason}", { reason: most.reason })
        }
        value={text}
        disabled={asset === "" || request.isUnknown}
        rightSection={asset}
        rightSectionWidth={64}
        onValue={setText}
      />
      <PercentButtons
        of={t("what you can borrow")}
        disabled={asset === "" || typeof most !== "bigint" || request.isUnknown}
        onPercent={(percent) => typeof most === "bigint" && setText(cutTo((most * percent) / 100n, places))}
      />
    </ConfirmDialog>
  );
}

/** Repays a loan, whole or in part. */
export function RepayDialog({
  account,
  loan,
  onClose,
}: {
  account: MarginAccount;
  loan: MarginLoan;
  onClose: () => void;
}) {
  const { rest } = useExchange();
  const marks = marksOf(account);
  const { placesOf } = useAssets();
  const [isWhole, setWhole] = useState(true);
  const [text, setText] = useState("");
  const { loanId, asset } = loan;
  // The newest reading of the list counts, not the row that was clicked.
  const current = account.loans.find((known) => known.loanId === loanId) ?? loan;
  const owed = owedOf(current);
  const free = toScaled(balanceOf(account, asset).available);
  const places = placesOf(asset);
  const amount = isWhole ? null : readAmount(text.trim(), places);
  const request = useMarginRequest(
    (requestId) =>
      returned(
        rest.POST("/api/v1/margin/loans/repay", {
          body: { loanId, requestId, ...(isWhole ? {} : { amount: text.trim() }) },
        }),
      ),
    ({ account: after }) => {
      const isRepaid = after.loans.find((known) => known.loanId === loanId)?.status === "repaid";
      toastDone(
        isRepaid ? t("Loan repaid") : t("A part is repaid"),
        t("Interest is paid first, then the loan."),
      );
      onClose();
    },
  );
  const fault = repayFault(amount, { asset, owed, free });
  const position = account.positions.find((each) => each.loanId === loanId && isUnderWay(each));
  const paid =
    fault !== null || typeof amount === "string" ? null : amount === null || amount > owed ? owed : amount;
  const level = levelAfter(account, marks, asset, {});
  return (
    <ConfirmDialog
      title={t("Repay the loan of {amountText} {asset}", {
        amountText: amountText(loan.principal, asset),
        asset,
      })}
      operator=""
      confirm={request.isUnknown ? askAgain() : isWhole ? t("Repay all of it") : t("Repay this part")}
      isBusy={request.isPending}
      problem={request.problem}
      missing={request.isUnknown ? [] : [fault ?? false]}
      comparisons={[
        {
          name: t("Owed, with interest"),
          before: <AssetAmount value={scaledText(owed)} asset={asset} />,
          after: paid === null ? "–" : <AssetAmount value={scaledText(owed - paid)} asset={asset} />,
        },
        {
          name: t("Free in the account, about"),
          before: <AssetAmount value={scaledText(free)} asset={asset} />,
          after: paid === null ? "–" : <AssetAmount value={scaledText(free - paid)} asset={asset} />,
        },
        {
          name: t("Level, about"),
          before: <LevelText level={level} />,
          after:
            paid === null ? (
              "–"
            ) : (
              <LevelText level={levelAfter(account, marks, asset, { held: -paid, owed: -paid })} />
            ),
        },
      ]}
      onConfirm={() => request.mutate()}
      onClose={onClose}
    >
      {position && (
        <WarningNote>
          {position.side === "buy"
            ? t("This loan pays for your long of {symbol}. Closing the position repays it by itself.", {
                symbol: position.symbol,
              })
            : t("This loan pays for your short of {symbol}. Closing the position repays it by itself.", {
                symbol: position.symbol,
              })}
        </WarningNote>
      )}
      <SegmentedControl
        fullWidth
        aria-label={t("How much")}
        disabled={request.isUnknown}
        data={[
          { value: "whole", label: t("All that is owed") },
          { value: "part", label: t("A part") },
        ]}
        value={isWhole ? "whole" : "part"}
        onChange={(value) => setWhole(value === "whole")}
      />
      {isWhole ? (
        <p>{t("The interest of the started minute is added.")}</p>
      ) : (
        <>
          <DecimalField
            label={t("Amount")}
            description={t("{cutTo} {asset} free", { cutTo: formatDecimal(cutTo(free, places)), asset })}
            value={text}
            disabled={request.isUnknown}
            rightSection={asset}
            rightSectionWidth={64}
            onValue={setText}
          />
          <PercentButtons
            of={t("what is owed")}
            disabled={request.isUnknown}
            onPercent={(percent) => setText(cutTo((owed * percent) / 100n, places))}
          />
        </>
      )}
    </ConfirmDialog>
  );
}
