import {
  CheckIcon,
  ChecklistIcon,
  CopyIcon,
  PencilIcon,
  PersonIcon,
  XCircleIcon,
} from "@primer/octicons-react";
import { type ReactNode, useState } from "react";
import { useLocation } from "wouter";
import { Amount } from "#lib/components/Amount.tsx";
import { Card } from "#lib/components/Card.tsx";
import { copyAndTell } from "#lib/components/CopyText.tsx";
import { type Column, DataTable } from "#lib/components/DataTable.tsx";
import { PageHeader } from "#lib/components/PageHeader.tsx";
import { EmptyState, WarningNote } from "#lib/components/states.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import { WithdrawalBadge } from "#lib/components/WithdrawalBadge.tsx";
import { plural } from "#lib/counts.ts";
import { useUrlState } from "#lib/urlState.ts";
import { useActingName, useCan } from "../operator/session.ts";
import {
  approvalFault,
  type OpenWithdrawal,
  rejectionFault,
  signatureFault,
  useOpenWithdrawals,
  type WithdrawalStatus,
} from "../operator/withdrawals.ts";
import { explainIfAny } from "../engine/messages.ts";
import { AssignDialog } from "../parts/AssignDialog.tsx";
import { ChoiceFilter, FilterBar } from "../parts/filters.tsx";
import { ParticipantLink, useOpensParticipants } from "../parts/ParticipantLink.tsx";
import {
  ApprovalDialog,
  DecisionsDialog,
  RejectionDialog,
  SignatureDialog,
} from "../parts/WithdrawalDialogs.tsx";
import { SavedViews } from "../parts/SavedViews.tsx";
import { choiceColumn, SelectionBar, useSelection } from "../parts/selection.tsx";
import { type BulkKind, WITHDRAWALS_MAX, WithdrawalsBulk } from "../parts/WithdrawalsBulk.tsx";
import { shownOperator, useAssignees } from "../people/assignments.ts";
import classes from "./WithdrawalsPage.module.css";

const COLUMNS: readonly Column<OpenWithdrawal>[] = [
  { id: "created", title: "Created", cell: ({ createdAt }) => <TimeText milliseconds={createdAt} /> },
  { id: "account", title: "Account", cell: ({ userId }) => <ParticipantLink id={userId} /> },
  {
    id: "amount",
    title: "Amount",
    align: "right",
    cell: ({ amount, asset, valueUsd }) => (
      <Pair
        first={<Amount value={amount} unit={asset} />}
        second={<Amount value={valueUsd} unit="USD" places={2} />}
      />
    ),
  },
  {
    id: "to",
    title: "To",
    cell: ({ address, network, wallet }) => (
      <span className={classes.destination} title={address}>
        <Pair first={<span className="figures">{address}</span>} second={`${network}, from ${wallet}`} />
      </span>
    ),
  },
  {
    id: "state",
    title: "State",
    cell: ({ status, reason }) => <Pair first={<WithdrawalBadge status={status} />} second={reason} />,
  },
  { id: "waits", title: "Waits for", cell: (withdrawal) => <Waiting withdrawal={withdrawal} /> },
];

/** A value with a lesser one below it. */
function Pair({ first, second }: { first: ReactNode; second: ReactNode }) {
  return (
    <span className={classes.pair}>
      <span>{first}</span>
      {second && <span className={classes.second}>{second}</span>}
    </span>
  );
}

/** What custody itself, the engine or the network has to do next, where nobody is asked. */
const NEXT: Record<WithdrawalStatus, string> = {
  pending_approval: "the engine to reserve the amount",
  approved: "custody to prepare it",
  signing: "custody to send it",
  broadcasting: "the network to take it",
  confirming: "the network",
  completed: "the amount to be booked",
  cancelled: "the amount to be free again",
  rejected: "the amount to be free again",
  failed: "the amount to be free again",
};

function Waiting({ withdrawal }: { withdrawal: OpenWithdrawal }) {
  const { status, approvals, approvalsNeeded, signatures, signaturesNeeded } = withdrawal;
  if (status === "pending_approval" && approvals.length < approvalsNeeded) {
    return <Tally count={approvals.length} needed={approvalsNeeded} what="approval" names={approvals} />;
  }
  if (status === "signing" && signatures.length < signaturesNeeded) {
    return <Tally count={signatures.length} needed={signaturesNeeded} what="signature" names={signatures} />;
  }
  if (status === "confirming") {
    const { confirmations, confirmationsNeeded } = withdrawal;
    return <Tally count={confirmations} needed={confirmationsNeeded} what="block" names={[]} />;
  }
  return NEXT[status];
}

function Tally(props: { count: number; needed: number; what: string; names: string[] }) {
  const { count, needed, what, names } = props;
  return (
    <Pair
      first={
        <span className="figures">
          {count} of {plural(needed, what)}
        </span>
      }
      second={names.length > 0 && `by ${names.join(", ")}`}
    />
  );
}

/** How many wait, and how many of them for the reader. */
function Summary({ withdrawals, operator }: { withdrawals: readonly OpenWithdrawal[]; operator: string }) {
  const mine = withdrawals.filter((each) => !approvalFault(each, operator) || !signatureFault(each)).length;
  if (withdrawals.length === 0) return null;
  return (
    <p className={classes.summary}>
      <strong>{plural(withdrawals.length, "withdrawal")}</strong>
      {mine > 0 ? `, ${mine} of which you can take further` : ", none of which waits for you"}
    </p>
  );
}

type Asked = { withdrawal: OpenWithdrawal; decision: keyof typeof DIALOGS } | null;

const DIALOGS = {
  approve: ApprovalDialog,
  reject: RejectionDialog,
  sign: SignatureDialog,
  assign: AssignDialog,
  look: DecisionsDialog,
};
const NONE: readonly OpenWithdrawal[] = [];
const idOf = ({ id }: OpenWithdrawal) => id;
const nameOf = ({ amount, asset, userId }: OpenWithdrawal) => `${amount} ${asset} of ${userId}`;

/** The withdrawals that wait for somebody, with the way to decide on them. */
export function WithdrawalsPage() {
  const query = useOpenWithdrawals();
  const operator = useActingName();
  const [, navigate] = useLocation();
  const opensParticipants = useOpensParticipants();
  const [asked, setAsked] = useState<Asked>(null);
  const [bulk, setBulk] = useState<{ kind: BulkKind; ids: readonly string[] } | null>(null);
  const Dialog = asked && DIALOGS[asked.decision];
  const assignees = useAssignees().data;
  const can = useCan();
  const url = useUrlState();
  const wanted = url.parameter("assignee");
  const all = query.data?.withdrawals ?? NONE;
  const shown = wanted === "" ? all : all.filter(({ assignee }) => (assignee ?? "nobody") === wanted);
  const selection = useSelection(shown.map(idOf), WITHDRAWALS_MAX);
  const columns: readonly Column<OpenWithdrawal>[] = [
    choiceColumn(selection, idOf, nameOf),
    ...COLUMNS,
    { id: "assignee", title: "To decide", cell: ({ assignee }) => shownOperator(assignee, assignees) },
  ];
  return (
    <>
      <PageHeader title="Withdrawals" actions={<SavedViews page="withdrawals" />}>
        Withdrawals that are not settled yet, the oldest first, and what each one waits for.
      </PageHeader>
      <Card flush>
        <DataTable
          label="Withdrawals"
          toolbar={
            query.data && (
              <>
                <Summary withdrawals={shown} operator={operator} />
                <FilterBar isFiltered={wanted !== ""} onClear={() => url.change({ assignee: null })}>
                  <ChoiceFilter
                    label="To decide"
                    any="Anybody's"
                    value={wanted}
                    choices={[
                      { value: "nobody", label: "Nobody's" },
                      ...(assignees ?? []).map((each) => ({ value: each.operator, label: each.email })),
                    ]}
                    onChange={(assignee) => url.change({ assignee })}
                  />
                </FilterBar>
                <SelectionBar
                  selection={selection}
                  noun="withdrawal"
                  most={WITHDRAWALS_MAX}
                  choices={[
                    {
                      label: "Approve them…",
                      needs: "withdrawals.approve",
                      onClick: () => setBulk({ kind: "approvals", ids: selection.ids }),
                    },
                    {
                      label: "Reject them…",
                      needs: "withdrawals.reject",
                      danger: true,
                      onClick: () => setBulk({ kind: "rejections", ids: selection.ids }),
                    },
                  ]}
                />
              </>
            )
          }
          columns={columns}
          rows={query.data && shown}
          rowId={idOf}
          rowName={nameOf}
          state={query}
          problem={explainIfAny(query.error)}
          empty={
            <EmptyState title="No withdrawal waits">
              Small withdrawals are approved and signed by themselves. Larger ones appear here until they are
              settled.
            </EmptyState>
          }
          actions={(withdrawal) => [
            {
              label: "Approve…",
              icon: <CheckIcon />,
              disabledReason: approvalFault(withdrawal, operator),
              onClick: () => setAsked({ withdrawal, decision: "approve" }),
            },
            {
              label: "Sign…",
              icon: <PencilIcon />,
              disabledReason: signatureFault(withdrawal),
              onClick: () => setAsked({ withdrawal, decision: "sign" }),
            },
            {
              label: "Who decides…",
              icon: <PersonIcon />,
              disabledReason: can("withdrawals.assign")
                ? undefined
                : "This needs the permission withdrawals.assign.",
              onClick: () => setAsked({ withdrawal, decision: "assign" }),
            },
            {
              label: "What was decided…",
              icon: <ChecklistIcon />,
              onClick: () => setAsked({ withdrawal, decision: "look" }),
            },
            { label: "Copy address", icon: <CopyIcon />, onClick: () => copyAndTell(withdrawal.address) },
            { label: "Copy withdrawal id", icon: <CopyIcon />, onClick: () => copyAndTell(withdrawal.id) },
            ...(opensParticipants
              ? [
                  {
                    label: "Open participant",
                    icon: <PersonIcon />,
                    onClick: () => navigate(`/participants/${encodeURIComponent(withdrawal.userId)}`),
                  },
                ]
              : []),
            {
              label: "Reject…",
              icon: <XCircleIcon />,
              danger: true,
              disabledReason: rejectionFault(withdrawal, operator),
              onClick: () => setAsked({ withdrawal, decision: "reject" }),
            },
          ]}
          footer={
            query.data?.complete === false && (
              <WarningNote>There are more. They move up as soon as these are settled.</WarningNote>
            )
          }
        />
      </Card>
      {bulk && <WithdrawalsBulk {...bulk} withdrawals={all} onClose={() => setBulk(null)} />}
      {asked && Dialog && <Dialog withdrawal={asked.withdrawal} onClose={() => setAsked(null)} />}
    </>
  );
}
