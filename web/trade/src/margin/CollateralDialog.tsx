import { SegmentedControl, Select } from "@mantine/core";
import { useState } from "react";
import { ConfirmDialog } from "#lib/components/ConfirmDialog.tsx";
import { DecimalField } from "#lib/components/DecimalField.tsx";
import { toastDone } from "#lib/components/toasts.tsx";
import { formatDecimal } from "#lib/decimal.ts";
import { t } from "#lib/language.ts";
import { scaledText, toScaled } from "#lib/scaled.ts";
import { unknownAt } from "../api/attempts.ts";
import { returned, useExchange } from "../api/client.ts";
import { useBalances } from "../api/queries.ts";
import { useSession } from "../api/session.ts";
import { PercentButtons } from "../parts/PercentButtons.tsx";
import { askedOfMove, type Move, moveOf } from "./asked.ts";
import { useAssets } from "./assets.ts";
import { cutTo, marksOf } from "./figures.ts";
import { LevelText } from "./LevelText.tsx";
import { balanceOf, collateralFault, levelAfter, mostOut, readAmount } from "./moves.ts";
import { type MarginAccount, useMarginRequest } from "./queries.ts";
import { AssetAmount } from "../parts/AssetAmount.tsx";

/** Moves funds between the wallet and the margin account, and shows both balances as they would be afterwards. */
export function CollateralDialog({
  account,
  first,
  onClose,
}: {
  /** Null for the first move, which opens the account. */
  account: MarginAccount | null;
  first: Move;
  onClose: () => void;
}) {
  const { rest } = useExchange();
  const { session } = useSession();
  const place = `collateral ${session?.userId}`;
  // A dialog that was closed while nobody knew the outcome goes on with it.
  const [begun] = useState(() => moveOf(unknownAt(place), first));
  const balances = useBalances();
  const { names, placesOf } = useAssets();
  // Without an account there is no level to judge.
  const marks = marksOf(account ?? { prices: [] });
  const [direction, setDirection] = useState(begun.direction);
  const [chosen, setAsset] = useState(begun.asset);
  const [text, setText] = useState(begun.amount);
  const isIn = direction === "in";
  const spotOf = (name: string) => balances.data?.find((row) => row.asset === name)?.available ?? "0";
  const source = (name: string) => (isIn ? spotOf(name) : balanceOf(account, name).available);
  // What margin does not offer comes in no more, and can still leave.
  const movable = isIn ? names : (account?.balances ?? []).map((balance) => balance.asset);
  const owned = movable.filter((name) => toScaled(source(name)) > 0n);
  // A single asset is chosen by itself.
  const asset = chosen || (owned.length === 1 ? (owned[0] ?? "") : "");
  // Interest and fees leave amounts with more decimals than deposits have. These may leave the account too.
  const places = isIn ? placesOf(asset) : 18;
  const spot = balances.data ? toScaled(spotOf(asset)) : null;
  const held = toScaled(balanceOf(account, asset).total);
  const free = isIn ? spot : account && mostOut(account, asset, marks);
  const amount = readAmount(text.trim(), places);
  const request = useMarginRequest(
    (requestId) =>
      returned(
        rest.POST("/api/v1/margin/transfers", { body: { asset, amount: text.trim(), direction, requestId } }),
      ),
    () => {
      const words = `${formatDecimal(text.trim())} ${asset}`;
      toastDone(
        isIn ? t("Collateral moved in") : t("Collateral moved out"),
        isIn
          ? t("{words} are in your margin account.", { words })
          : t("{words} are in your wallet again.", { words }),
      );
      onClose();
    },
    { place, asked: askedOfMove({ direction, asset, amount: text.trim() }) },
  );
  const fault = collateralFault(amount, { asset, direction, free, places });
  const moved = typeof amount === "bigint" ? (isIn ? amount : -amount) : 0n;
  const isMoved = fault === null;
  const level = levelAfter(account, marks, asset, {});
  const after = levelAfter(account, marks, asset, { held: moved });
  return (
    <ConfirmDialog
      title={account ? t("Move collateral") : t("Open a margin account")}
      operator=""
      confirm={
        request.isUnknown ? t("Ask again what became of it") : isIn ? t("Move it in") : t("Move it out")
      }
      isBusy={request.isPending}
      problem={request.problem}
      missing={request.isUnknown ? [] : [fault ?? false]}
      comparisons={
        // While the outcome is unknown, the balances may be those before or after the move.
        asset === "" || request.isUnknown
          ? []
          : [
              {
                name: t("Free in the wallet"),
                before: spot === null ? "–" : <AssetAmount value={scaledText(spot)} asset={asset} />,
                after:
                  spot === null || !isMoved ? (
                    "–"
                  ) : (
                    <AssetAmount value={scaledText(spot - moved)} asset={asset} />
                  ),
              },
              {
                name: t("In the margin account"),
                before: <AssetAmount value={scaledText(held)} asset={asset} />,
                after: isMoved ? <AssetAmount value={scaledText(held + moved)} asset={asset} /> : "–",
              },
              ...(level === null
                ? []
                : [
                    {
                      name: t("Level, about"),
                      before: <LevelText level={level} />,
                      after: isMoved ? <LevelText level={after} /> : "–",
                    },
                  ]),
            ]
      }
      onConfirm={() => request.mutate()}
      onClose={onClose}
    >
      {account && (
        <SegmentedControl
          fullWidth
          aria-label={t("Direction")}
          disabled={request.isUnknown}
          data={[
            { value: "in", label: t("In, from the wallet") },
            { value: "out", label: t("Out, to the wallet") },
          ]}
          value={direction}
          onChange={(value) => {
            setDirection(value === "out" ? "out" : "in");
            setText("");
          }}
        />
      )}
      <Select
        label={t("Asset")}
        searchable
        placeholder={owned.length > 0 || !balances.data ? t("Choose an asset") : t("Nothing is free there")}
        nothingFoundMessage={t("No asset of that name")}
        disabled={request.isUnknown}
        data={owned.includes(asset) || asset === "" ? owned : [asset, ...owned]}
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
            : free === null
              ? t("What can be moved is not known yet.")
              : typeof free === "bigint"
                ? t("{cutTo} {asset} can be moved", { cutTo: formatDecimal(cutTo(free, places)), asset })
                : t("Nothing can be moved out now: {reason}", { reason: free.reason })
        }
        value={text}
        disabled={asset === "" || request.isUnknown}
        // A field that is disabled takes no focus: the dialog would open without any.
        data-autofocus={asset !== "" || undefined}
        rightSection={asset}
        rightSectionWidth={64}
        onValue={setText}
      />
      <PercentButtons
        of={t("what can be moved")}
        disabled={asset === "" || typeof free !== "bigint" || request.isUnknown}
        onPercent={(percent) => typeof free === "bigint" && setText(cutTo((free * percent) / 100n, places))}
      />
    </ConfirmDialog>
  );
}
