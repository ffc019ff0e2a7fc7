import { Button, Textarea } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { Badge } from "#lib/components/Badge.tsx";
import { Dialog } from "#lib/components/Dialog.tsx";
import { ProblemNote } from "#lib/components/states.tsx";
import { plural } from "#lib/counts.ts";
import { explain } from "../engine/messages.ts";
import { type Edge, useEdge } from "../operator/client.ts";
import { useActingName } from "../operator/session.ts";
import classes from "./selection.module.css";

export interface BulkOutcome {
  dryRun: boolean;
  rows: readonly { id: string; outcome: Outcome; message: string | null; was?: { state: string } | null }[];
}

type Outcome = "changed" | "would_change" | "unchanged" | "refused" | "uncertain" | "not_tried";

export interface BulkRequest {
  ids: readonly string[];
  dryRun: boolean;
  reason: string;
  /** Names the attempt: a request that is sent again does no row twice. */
  key: string;
  /** What the dry run told. */
  told?: BulkOutcome;
}

const REASON_LENGTH_MIN = 3;
const REASON_LENGTH_MAX = 200;
const WORDS = {
  changed: ["Done", "positive", "✓"],
  would_change: ["Would be done", "positive", "○"],
  unchanged: ["Is so already", "neutral", "○"],
  refused: ["Refused", "negative", "✕"],
  uncertain: ["Not certain", "warning", "▲"],
  not_tried: ["Not tried", "warning", "◐"],
} as const;

interface Attempt {
  dryRun: boolean;
  attempt: string;
  told?: BulkOutcome;
}

interface Props {
  title: string;
  /** What a row is: "user". */
  noun: string;
  ids: readonly string[];
  /** What a row is called; its id by default. */
  nameOf?: (id: string) => string;
  confirm: string;
  danger?: boolean;
  /** Whether the action takes a reason. */
  asksReason?: boolean;
  /** What else the action depends on: a dry run counts for exactly that. */
  basis?: string;
  /** What has to be done before, as "choose a decision"; false is done. */
  missing?: string | false;
  act: (edge: Edge, request: BulkRequest) => Promise<BulkOutcome>;
  onClose: () => void;
  children?: ReactNode;
}

/** One action on several rows: first a dry run that shows what would become of each, then the action itself. */
export function BulkDialog(props: Props) {
  const {
    title,
    noun,
    ids,
    nameOf,
    confirm,
    danger,
    asksReason = true,
    missing,
    basis = "",
    act,
    onClose,
  } = props;
  const edge = useEdge();
  const client = useQueryClient();
  const operator = useActingName();
  const [reason, setReason] = useState("");
  const [key, setKey] = useState(() => crypto.randomUUID());
  const run = useMutation({
    mutationFn: ({ dryRun, told }: Attempt) =>
      act(edge, { ids, dryRun, reason: reason.trim(), key, ...(told && { told }) }),
    onSuccess: ({ dryRun }) => {
      // What was not certain is a new attempt: the reply to the old one is kept at the edge.
      if (!dryRun) setKey(crypto.randomUUID());
    },
    onSettled: async (_, __, { dryRun }) => {
      if (dryRun) return;
      await client.invalidateQueries({ queryKey: ["people"] });
      await client.invalidateQueries({ queryKey: ["withdrawals"] });
    },
  });
  const lacksReason = asksReason && reason.trim().length < REASON_LENGTH_MIN;
  const wanted = [missing, lacksReason && "give a reason"].find(Boolean);
  const attempt = `${basis} ${reason.trim()}`;
  const found = run.variables?.attempt === attempt || run.data?.dryRun === false ? run.data : undefined;
  const isDone = found?.dryRun === false;
  const willChange = found?.rows.filter(({ outcome }) => outcome === "would_change").length ?? 0;
  return (
    <Dialog title={title} onClose={onClose} size="lg" closeButtonProps={{ "aria-label": "Close" }}>
      <div className={classes.form}>
        {props.children}
        {asksReason && (
          <Textarea
            label="Reason"
            description={`Stands beside your name, ${operator}, with each ${noun}.`}
            withAsterisk
            autosize
            minRows={2}
            maxLength={REASON_LENGTH_MAX}
            value={reason}
            readOnly={isDone}
            data-autofocus
            onChange={(event) => setReason(event.currentTarget.value.replace(/[\r\n\t]+/g, " "))}
          />
        )}
        {run.error && <ProblemNote problem={explain(run.error)} />}
        {found && <Rows outcome={found} nameOf={nameOf ?? ((id) => id)} noun={noun} />}
        <div className={classes.buttons}>
          {wanted && <span>To go on, {wanted}.</span>}
          <Button variant="default" onClick={onClose}>
            {isDone ? "Close" : "Cancel"}
          </Button>
          {!isDone && (
            <Button
              variant="default"
              disabled={Boolean(wanted)}
              loading={run.isPending && run.variables.dryRun}
              onClick={() => run.mutate({ dryRun: true, attempt })}
            >
              Dry run
            </Button>
          )}
          {!isDone && (
            <Button
              color={danger ? "red" : undefined}
              disabled={Boolean(wanted) || willChange === 0}
              loading={run.isPending && !run.variables.dryRun}
              title={found ? undefined : "Look at the dry run first."}
              onClick={() => run.mutate({ dryRun: false, attempt, ...(found && { told: found }) })}
            >
              {confirm}
            </Button>
          )}
        </div>
      </div>
    </Dialog>
  );
}

function Rows({
  outcome,
  nameOf,
  noun,
}: {
  outcome: BulkOutcome;
  nameOf: (id: string) => string;
  noun: string;
}) {
  return (
    <div
      className={classes.scroll}
      role="region"
      aria-label={outcome.dryRun ? "What would happen" : "What happened"}
      tabIndex={0}
    >
      <p>
        {outcome.dryRun ? "Nothing is changed yet. " : ""}
        {plural(outcome.rows.length, noun)}:
      </p>
      <table className={classes.rows}>
        <tbody>
          {outcome.rows.map(({ id, outcome: found, message }) => {
            const [text, tone, shape] = WORDS[found];
            return (
              <tr key={id}>
                <th scope="row">{nameOf(id)}</th>
                <td>
                  <Badge tone={tone} shape={shape}>
                    {text}
                  </Badge>
                </td>
                <td>{message}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
