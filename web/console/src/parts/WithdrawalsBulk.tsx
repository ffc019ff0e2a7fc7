import { formatDecimal } from "#lib/decimal.ts";
import { decideAll, type OpenWithdrawal } from "../operator/withdrawals.ts";
import { BulkDialog } from "./BulkDialog.tsx";

/** Withdrawals of one bulk decision at most. */
export const WITHDRAWALS_MAX = 50;

export type BulkKind = "approvals" | "rejections";

interface Props {
  kind: BulkKind;
  ids: readonly string[];
  withdrawals: readonly OpenWithdrawal[];
  onClose: () => void;
}

/** Approve or reject several withdrawals; custody decides on each by itself. */
export function WithdrawalsBulk({ kind, ids, withdrawals, onClose }: Props) {
  const isRejection = kind === "rejections";
  const nameOf = (id: string) => {
    const found = withdrawals.find((each) => each.id === id);
    return found
      ? `${formatDecimal(found.amount)} ${found.asset} of ${found.userId}, to ${found.address}`
      : id;
  };
  return (
    <BulkDialog
      title={isRejection ? "Reject the withdrawals?" : "Approve the withdrawals?"}
      noun="withdrawal"
      ids={ids}
      nameOf={nameOf}
      confirm={isRejection ? "Reject them" : "Approve them"}
      danger={isRejection}
      act={(edge, { ids: wanted, dryRun, reason, key }) =>
        decideAll(edge, kind, { ids: [...wanted], dryRun, reason }, key)
      }
      onClose={onClose}
    >
      <p>
        {isRejection
          ? "Nothing is sent, and the amounts are free again. Each owner sees the reason."
          : "Each gets your approval, as if you had given it alone. Where two are needed, another person approves, too."}
      </p>
    </BulkDialog>
  );
}
