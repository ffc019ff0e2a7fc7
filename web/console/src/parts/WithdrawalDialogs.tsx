import { Select } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { Amount } from "#lib/components/Amount.tsx";
import { ConfirmDialog } from "#lib/components/ConfirmDialog.tsx";
import { Dialog } from "#lib/components/Dialog.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import { toastDone } from "#lib/components/toasts.tsx";
import { useActingName } from "../operator/session.ts";
import { type OpenWithdrawal, unsigned, useDecision } from "../operator/withdrawals.ts";
import { explainIfAny } from "../engine/messages.ts";
import classes from "./WithdrawalDialogs.module.css";

interface DialogProps {
  withdrawal: OpenWithdrawal;
  onClose: () => void;
}

/** The fewest letters of a reason that the trail takes. */
const REASON_LENGTH_MIN = 3;

/** What operators have decided on a withdrawal, each with its reason, the oldest first. */
export function Decisions({ withdrawal }: { withdrawal: OpenWithdrawal }) {
  if (withdrawal.decisions.length === 0) return null;
  return (
    <section aria-label="What operators decided">
      <ul className={classes.decisions}>
        {withdrawal.decisions.map(({ operator, decision, reason, at }, place) => (
          <li key={place}>
            <code>{operator}</code> {decision}: {reason}{" "}
            <span className={classes.at}>
              <TimeText milliseconds={at} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** What is sent where, in full: the decision is about exactly this. */
function Transfer({ withdrawal }: { withdrawal: OpenWithdrawal }) {
  const { amount, asset, netAmount, valueUsd, userId, address, tag, network, wallet } = withdrawal;
  const rows: [string, ReactNode][] = [
    ["Leaves the account", <Amount key="amount" value={amount} unit={asset} />],
    ["Arrives", <Amount key="net" value={netAmount} unit={asset} />],
    ["Worth", <Amount key="worth" value={valueUsd} unit="USD" places={2} />],
    ["Account", userId],
    [
      "To",
      <span key="to" className={`figures ${classes.address ?? ""}`}>
        {address}
      </span>,
    ],
    ...(tag
      ? ([
          [
            "Tag",
            <span key="tag" className="figures">
              {tag}
            </span>,
          ],
        ] as [string, ReactNode][])
      : []),
    ["Network, wallet", `${network}, ${wallet}`],
  ];
  return (
    <dl className={classes.transfer}>
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** The withdrawal that a decision is about, and what others decided before. */
function Subject({ withdrawal }: { withdrawal: OpenWithdrawal }) {
  return (
    <>
      <Transfer withdrawal={withdrawal} />
      <Decisions withdrawal={withdrawal} />
    </>
  );
}

/** What is sent where, who decided on it, and why. */
export function DecisionsDialog({ withdrawal, onClose }: DialogProps) {
  return (
    <Dialog title="What was decided" onClose={onClose} size="lg">
      <Subject withdrawal={withdrawal} />
      {withdrawal.decisions.length === 0 && <p>No operator has decided on it.</p>}
    </Dialog>
  );
}

function countOf(count: number, needed: number): string {
  return `${count} of ${needed}`;
}

/** Approve a withdrawal, after its amount was typed. */
export function ApprovalDialog({ withdrawal, onClose }: DialogProps) {
  const { id, approvals, approvalsNeeded, amount, asset } = withdrawal;
  const approve = useDecision(id, () => {
    onClose();
    toastDone("Approved", `${amount} ${asset} of ${withdrawal.userId}`);
  });
  const isLast = approvals.length + 1 >= approvalsNeeded;
  return (
    <ConfirmDialog
      title="Approve the withdrawal?"
      operator={useActingName()}
      comparisons={[
        {
          name: "Approvals",
          before: countOf(approvals.length, approvalsNeeded),
          after: countOf(approvals.length + 1, approvalsNeeded),
        },
      ]}
      typed={amount}
      asksReason
      reasonLengthMin={REASON_LENGTH_MIN}
      confirm="Approve"
      isBusy={approve.isPending}
      problem={explainIfAny(approve.error)}
      onConfirm={(reason) => approve.mutate({ kind: "approvals", reason })}
      onClose={onClose}
    >
      <Subject withdrawal={withdrawal} />
      <p>
        {isLast
          ? "Yours is the last approval that it needs: its signers come next."
          : "Another operator has to approve it after you."}
      </p>
    </ConfirmDialog>
  );
}

/** Reject a withdrawal, with a reason. */
export function RejectionDialog({ withdrawal, onClose }: DialogProps) {
  const reject = useDecision(withdrawal.id, () => {
    onClose();
    toastDone("Rejected", `${withdrawal.amount} ${withdrawal.asset} go back to ${withdrawal.userId}`);
  });
  return (
    <ConfirmDialog
      title="Reject the withdrawal?"
      operator={useActingName()}
      asksReason
      reasonLengthMin={REASON_LENGTH_MIN}
      reasonStandsIn="the audit trail, and its owner sees it"
      confirm="Reject"
      danger
      isBusy={reject.isPending}
      problem={explainIfAny(reject.error)}
      onConfirm={(reason) => reject.mutate({ kind: "rejection", reason })}
      onClose={onClose}
    >
      <Subject withdrawal={withdrawal} />
      <p>One rejection ends it, whatever was approved. The amount is free again on the account.</p>
    </ConfirmDialog>
  );
}

/** Sign a withdrawal with the key of one of its wallet's signers. */
export function SignatureDialog({ withdrawal, onClose }: DialogProps) {
  const open = unsigned(withdrawal);
  const [signer, setSigner] = useState<string | null>(open[0] ?? null);
  const { signatures, signaturesNeeded } = withdrawal;
  const sign = useDecision(withdrawal.id, () => {
    onClose();
    toastDone("Signed", `${withdrawal.amount} ${withdrawal.asset} by ${signer ?? ""}`);
  });
  return (
    <ConfirmDialog
      title="Sign the withdrawal?"
      operator={useActingName()}
      missing={[signer === null && "choose a signer"]}
      comparisons={[
        {
          name: "Signatures",
          before: countOf(signatures.length, signaturesNeeded),
          after: countOf(signatures.length + 1, signaturesNeeded),
        },
      ]}
      asksReason
      reasonLengthMin={REASON_LENGTH_MIN}
      confirm="Sign"
      isBusy={sign.isPending}
      problem={explainIfAny(sign.error)}
      onConfirm={(reason) => signer !== null && sign.mutate({ kind: "signatures", signer, reason })}
      onClose={onClose}
    >
      <Subject withdrawal={withdrawal} />
      <Select
        label="Signer"
        description="Custody is a simulator and holds the key of every signer; you sign in that signer's name."
        data={open}
        value={signer}
        onChange={setSigner}
        allowDeselect={false}
      />
    </ConfirmDialog>
  );
}
