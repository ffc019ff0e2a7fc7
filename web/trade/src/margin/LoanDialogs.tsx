import { SegmentedControl, Select } from "@mantine/core";
import { useState } from "react";
import { ConfirmDialog } from "#lib/components/ConfirmDialog.tsx";
import { DecimalField } from "#lib/components/DecimalField.tsx";
import { WarningNote } from "#lib/components/states.tsx";
import { toastDone } from "#lib/components/toasts.tsx";
import { formatDecimal } from "#lib/decimal.ts";
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

const ASK_AGAIN = "Ask again what became of it";

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
      toastDone("Borrowed", `${formatDecimal(text.trim())} ${asset} are in your margin account.`);
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
      title="Borrow"
      operator=""
      confirm={request.isUnknown ? ASK_AGAIN : "Borrow it"}
      isBusy={request.isPending}
      problem={request.problem}
      missing={request.isUnknown ? [] : [fault ?? false]}
      comparisons={
        asset === "" || request.isUnknown
          ? []
          : [
              {
                name: `Owed of ${asset}`,
                before: <AssetAmount value={scaledText(owed)} asset={asset} />,
                after:
                  borrowed === null ? "–" : <AssetAmount value={scaledText(owed + borrowed)} asset={asset} />,
              },
              {
                name: "Level, about",
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
        The loan runs until you repay it. Its interest is simple and grows every minute
        {rate === undefined
          ? "; the list of loans shows the yearly rate"
          : `. Your last loan: ${percentOfRate(rate)} a year`}
        .
      </p>
      <Select
        label="Asset"
        searchable
        placeholder="Choose an asset"
        nothingFoundMessage="No asset of that name"
        disabled={request.isUnknown}
        data={names}
        value={asset || null}
        onChange={(value) => {
          setAsset(value ?? "");
          setText("");
        }}
      />
      <DecimalField
        label="Amount"
        description={
          asset === ""
            ? "Choose an asset first."
            : typeof most === "bigint"
              ? `You can borrow ${formatDecimal(cutTo(most, places))} ${asset}, if the pool has it`
              : `Nothing can be borrowed now: ${most.reason}`
        }
        value={text}
        disabled={asset === "" || request.isUnknown}
        rightSection={asset}
        rightSectionWidth={64}
        onValue={setText}
      />
      <PercentButtons
        of="what you can borrow"
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
      toastDone(isRepaid ? "Loan repaid" : "A part is repaid", "Interest is paid first, then the loan.");
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
      title={`Repay the loan of ${amountText(loan.principal, asset)} ${asset}`}
      operator=""
      confirm={request.isUnknown ? ASK_AGAIN : isWhole ? "Repay all of it" : "Repay this part"}
      isBusy={request.isPending}
      problem={request.problem}
      missing={request.isUnknown ? [] : [fault ?? false]}
      comparisons={[
        {
          name: "Owed, with interest",
          before: <AssetAmount value={scaledText(owed)} asset={asset} />,
          after: paid === null ? "–" : <AssetAmount value={scaledText(owed - paid)} asset={asset} />,
        },
        {
          name: "Free in the account, about",
          before: <AssetAmount value={scaledText(free)} asset={asset} />,
          after: paid === null ? "–" : <AssetAmount value={scaledText(free - paid)} asset={asset} />,
        },
        {
          name: "Level, about",
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
          This loan pays for your {position.side === "buy" ? "long" : "short"} of {position.symbol}. Closing
          the position repays it by itself.
        </WarningNote>
      )}
      <SegmentedControl
        fullWidth
        aria-label="How much"
        disabled={request.isUnknown}
        data={[
          { value: "whole", label: "All that is owed" },
          { value: "part", label: "A part" },
        ]}
        value={isWhole ? "whole" : "part"}
        onChange={(value) => setWhole(value === "whole")}
      />
      {isWhole ? (
        <p>The interest of the started minute is added.</p>
      ) : (
        <>
          <DecimalField
            label="Amount"
            description={`${formatDecimal(cutTo(free, places))} ${asset} free`}
            value={text}
            disabled={request.isUnknown}
            rightSection={asset}
            rightSectionWidth={64}
            onValue={setText}
          />
          <PercentButtons
            of="what is owed"
            disabled={request.isUnknown}
            onPercent={(percent) => setText(cutTo((owed * percent) / 100n, places))}
          />
        </>
      )}
    </ConfirmDialog>
  );
}
