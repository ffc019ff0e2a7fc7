import { Button } from "@mantine/core";
import { PlusIcon } from "@primer/octicons-react";
import { type ReactNode, useState } from "react";
import { copyAndTell } from "#lib/components/CopyText.tsx";
import { type Column, DataTable, type ListState } from "#lib/components/DataTable.tsx";
import { EmptyState, type Problem } from "#lib/components/states.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import { t } from "#lib/language.ts";
import { percentOfRate } from "#lib/rates.ts";
import { isRunning } from "./figures.ts";
import { BorrowDialog, RepayDialog } from "./LoanDialogs.tsx";
import type { MarginAccount, MarginLoan } from "./queries.ts";
import { LoanState } from "./states.tsx";
import { AssetAmount } from "../parts/AssetAmount.tsx";
import { amountText } from "../parts/assetPlaces.ts";

const FIRST: Column<MarginLoan>[] = [
  {
    id: "borrowed",
    get title() {
      return t("Borrowed");
    },
    cell: ({ principal, asset }) => (
      <strong>
        <AssetAmount value={principal} asset={asset} />
      </strong>
    ),
  },
];
const RATE: Column<MarginLoan> = {
  id: "rate",
  get title() {
    return t("Yearly rate");
  },
  align: "right",
  cell: ({ rate }) => <span className="figures">{percentOfRate(rate)}</span>,
};
const STATE: Column<MarginLoan> = {
  id: "state",
  get title() {
    return t("State");
  },
  cell: ({ status }) => <LoanState status={status} />,
};
const PAID: Column<MarginLoan> = {
  id: "paid",
  get title() {
    return t("Interest paid");
  },
  align: "right",
  cell: ({ interestPaid, asset }) => <AssetAmount value={interestPaid} asset={asset} hasUnit={false} />,
};
const SINCE: Column<MarginLoan> = {
  id: "since",
  get title() {
    return t("Since");
  },
  cell: ({ createdAt }) => <TimeText milliseconds={Date.parse(createdAt)} />,
};

const CURRENT: Column<MarginLoan>[] = [
  ...FIRST,
  {
    id: "outstanding",
    get title() {
      return t("Outstanding");
    },
    align: "right",
    cell: ({ outstanding, asset }) => <AssetAmount value={outstanding} asset={asset} hasUnit={false} />,
  },
  {
    id: "interest",
    get title() {
      return t("Interest owed");
    },
    align: "right",
    cell: ({ interest, asset }) => <AssetAmount value={interest} asset={asset} hasUnit={false} />,
  },
  PAID,
  RATE,
  STATE,
  SINCE,
];
const ENDED: Column<MarginLoan>[] = [
  ...FIRST,
  PAID,
  RATE,
  STATE,
  SINCE,
  {
    id: "ended",
    get title() {
      return t("Ended");
    },
    cell: ({ endedAt }) => (endedAt === null ? "–" : <TimeText milliseconds={Date.parse(endedAt)} />),
  },
];

interface LoanListProps {
  account: MarginAccount;
  isEnded: boolean;
  toolbar: ReactNode;
  state: ListState;
  problem: Problem | null;
}

/** The loans that run or those that have ended, and the ways to borrow and to repay. */
export function LoanList({ account, isEnded, toolbar, state, problem }: LoanListProps) {
  const [isBorrowing, setBorrowing] = useState(false);
  const [repaying, setRepaying] = useState<MarginLoan | null>(null);
  const isActive = account.status === "active";
  return (
    <>
      <DataTable
        label={isEnded ? t("Ended loans") : t("Running loans")}
        toolbar={
          <>
            {toolbar}
            <Button
              size="xs"
              variant="default"
              leftSection={<PlusIcon />}
              disabled={!isActive}
              onClick={() => setBorrowing(true)}
            >
              {t("Borrow")}
            </Button>
          </>
        }
        columns={isEnded ? ENDED : CURRENT}
        rows={account.loans.filter((loan) => isRunning(loan) !== isEnded)}
        rowId={({ loanId }) => loanId}
        rowName={({ principal, asset }) =>
          t("the loan of {amountText} {asset}", { amountText: amountText(principal, asset), asset })
        }
        actions={(loan) => [
          {
            label: t("Repay…"),
            onClick: () => setRepaying(loan),
            disabledReason: isActive ? whyNotRepaid(loan) : t("The liquidation repays it"),
          },
          { label: t("Copy id"), onClick: () => copyAndTell(loan.loanId) },
        ]}
        state={state}
        problem={problem}
        empty={
          isEnded ? (
            <EmptyState title={t("No ended loans")}>{t("What is repaid stays listed here.")}</EmptyState>
          ) : (
            <EmptyState title={t("No loans")}>
              {t("Positions borrow what they need by themselves. You can borrow without one as well.")}
            </EmptyState>
          )
        }
      />
      {isBorrowing && <BorrowDialog account={account} onClose={() => setBorrowing(false)} />}
      {repaying && <RepayDialog account={account} loan={repaying} onClose={() => setRepaying(null)} />}
    </>
  );
}

function whyNotRepaid({ status }: MarginLoan): string | undefined {
  if (status === "active") return undefined;
  return status === "pending" ? t("It is being paid out") : t("It has ended already");
}
