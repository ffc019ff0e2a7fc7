import { Select } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useUserSession } from "../operator/session.ts";
import { useSession } from "../engine/session.ts";
import { assign, shownOperator, useAssignees } from "../people/assignments.ts";
import { ReasonDialog } from "./ReasonDialog.tsx";

const NOBODY = "nobody";

interface Props {
  withdrawal: { id: string; amount: string; asset: string; assignee: string | null };
  onClose: () => void;
}

/** Say who is to decide on a withdrawal. */
export function AssignDialog({ withdrawal: { id, amount, asset, assignee }, onClose }: Props) {
  const assignees = useAssignees();
  const client = useQueryClient();
  const user = useUserSession().session;
  const { session } = useSession();
  const [chosen, setChosen] = useState(assignee ?? NOBODY);
  // A participant of the engine is in no list of users, and takes a withdrawal over by itself.
  const own = user === null && session !== null ? `engine:${session.participantId}` : null;
  const choices = [
    { value: NOBODY, label: "Nobody" },
    ...(own === null ? [] : [{ value: own, label: `${own} (you)` }]),
    ...(assignees.data ?? []).map(({ operator, email, assigned }) => ({
      value: operator,
      label: `${email}${operator === user?.operator ? " (you)" : ""}, has ${assigned}`,
    })),
  ];
  const known = choices.some(({ value }) => value === chosen);
  const shown = known ? choices : [...choices, { value: chosen, label: chosen }];
  const next = chosen === NOBODY ? null : chosen;
  return (
    <ReasonDialog
      title="Who is to decide?"
      comparisons={[
        {
          name: "To decide",
          before: shownOperator(assignee, assignees.data),
          after: shownOperator(next, assignees.data),
        },
      ]}
      missing={[next === assignee && "choose another"]}
      confirm="Assign it"
      act={async (edge, reason) => {
        const assigned = await assign(edge, { id, assignee: next, expected: assignee, reason });
        await client.invalidateQueries({ queryKey: ["withdrawals"] });
        return assigned;
      }}
      done={({ assignee: now }) => [
        now === null ? "Nobody is asked any more" : "Assigned",
        `${amount} ${asset}${now === null ? "" : ` to ${shownOperator(now, assignees.data)}`}`,
      ]}
      onClose={onClose}
    >
      <p>Whoever may decide still can, and two persons stay two.</p>
      <Select
        label="Operator"
        data={shown}
        value={chosen}
        allowDeselect={false}
        searchable
        onChange={(value) => setChosen(value ?? NOBODY)}
      />
    </ReasonDialog>
  );
}
