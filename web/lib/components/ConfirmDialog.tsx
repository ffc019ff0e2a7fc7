import { Button, Textarea, TextInput } from "@mantine/core";
import { type ReactNode, useId, useState } from "react";
import { rich, t } from "../language.ts";
import { Dialog } from "./Dialog.tsx";
import classes from "./ConfirmDialog.module.css";
import { type Problem, ProblemNote } from "./states.tsx";

export const REASON_LENGTH_MAX = 200;

export interface Comparison {
  name: string;
  before: ReactNode;
  after: ReactNode;
}

interface ConfirmDialogProps {
  title: string;
  /** What happens, in one or two sentences. */
  children?: ReactNode;
  comparisons?: readonly Comparison[];
  /** What has to be done before, each as "choose a currency"; false is done. */
  missing?: readonly (string | false)[];
  /** What has to be typed before the button works; an empty text asks for nothing. */
  typed?: string;
  /** Whether a reason has to be given. */
  asksReason?: boolean;
  /** How many letters a reason has at least. */
  reasonLengthMin?: number;
  /** Where the reason is kept. */
  reasonStandsIn?: string;
  /** Who acts, for the log. */
  operator: string;
  confirm: string;
  /** The button that changes nothing; another word where the change itself is a cancellation. */
  dismiss?: string;
  danger?: boolean;
  isBusy: boolean;
  problem: Problem | null;
  onConfirm: (reason: string) => void;
  onClose: () => void;
}

/** The last question before a change: what was, what will be, why, and a word that has to be typed. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const {
    title,
    children,
    comparisons = [],
    typed,
    asksReason = false,
    reasonLengthMin = 1,
    reasonStandsIn = t("the audit trail"),
    operator,
    confirm,
    dismiss = t("Cancel"),
    danger = false,
  } = props;
  const { isBusy, problem, onConfirm, onClose, missing = [] } = props;
  const [reason, setReason] = useState("");
  const [text, setText] = useState("");
  const hint = useId();
  const lacksReason = asksReason && reason.trim().length < reasonLengthMin;
  const lacksText = Boolean(typed) && text.trim() !== typed;
  const wanted =
    [
      ...missing,
      lacksReason && t("give a reason"),
      lacksText && t("type {typed}", { typed: typed ?? "" }),
    ].find(Boolean) ?? "";
  return (
    <Dialog title={title} onClose={onClose} size="lg" closeButtonProps={{ "aria-label": t("Close") }}>
      <form
        className={classes.form}
        onSubmit={(event) => {
          event.preventDefault();
          if (!wanted && !isBusy) onConfirm(reason.trim());
        }}
      >
        {children}
        {comparisons.length > 0 && <Comparisons rows={comparisons} />}
        {asksReason && (
          <Textarea
            label={t("Reason")}
            description={t("Stands in {reasonStandsIn}, beside your name, {operator}.", {
              reasonStandsIn,
              operator,
            })}
            withAsterisk
            autosize
            minRows={2}
            maxLength={REASON_LENGTH_MAX}
            value={reason}
            data-autofocus
            // A reason is one line: the engine takes printable letters only.
            onChange={(event) => setReason(event.currentTarget.value.replace(/[\r\n\t]+/g, " "))}
          />
        )}
        {typed && (
          <TextInput
            label={
              <>
                {rich("Type {typed} to confirm", {
                  typed: <strong className={classes.typed}>{typed}</strong>,
                })}
              </>
            }
            value={text}
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => setText(event.currentTarget.value)}
          />
        )}
        {problem && <ProblemNote problem={problem} />}
        <div className={classes.buttons}>
          <span id={hint} className={classes.missing}>
            {wanted && t("To go on, {wanted}.", { wanted })}
          </span>
          <Button variant="default" onClick={onClose}>
            {dismiss}
          </Button>
          <Button
            type="submit"
            color={danger ? "red" : undefined}
            loading={isBusy}
            disabled={wanted !== ""}
            aria-describedby={hint}
          >
            {confirm}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** Values before and after a change. */
function Comparisons({ rows }: { rows: readonly Comparison[] }) {
  return (
    <table className={classes.comparison} aria-label={t("Before and after")}>
      <thead>
        <tr>
          <td />
          <th scope="col">{t("Before")}</th>
          <th scope="col">{t("After")}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ name, before, after }) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>{before}</td>
            <td className={classes.after}>{after}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
