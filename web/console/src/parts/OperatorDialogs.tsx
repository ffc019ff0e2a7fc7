import { Checkbox, Stack, TextInput } from "@mantine/core";
import { useState } from "react";
import { ConfirmDialog } from "#lib/components/ConfirmDialog.tsx";
import { toastDone } from "#lib/components/toasts.tsx";
import { explainIfAny } from "../engine/messages.ts";
import {
  type OperatorSession,
  type OperatorUser,
  useNewOperator,
  useRoleChange,
  useSessionEnd,
} from "../operator/queries.ts";
import { ROLES } from "../operator/roles.ts";
import { type OperatorRole, useActingName } from "../operator/session.ts";

const TRAIL = "the audit trail for ever, so name nobody in it";
const REASON_LENGTH_MIN = 3;

const namesOf = (roles: readonly OperatorRole[]) => [...roles].sort().join(", ") || "none";

function RoleChoice({
  chosen,
  onChange,
}: {
  chosen: OperatorRole[];
  onChange: (roles: OperatorRole[]) => void;
}) {
  return (
    <Checkbox.Group label="Roles" value={chosen} onChange={onChange}>
      <Stack gap="xs" mt="xs">
        {ROLES.map(({ role, title, description }) => (
          <Checkbox key={role} value={role} label={title} description={description} />
        ))}
      </Stack>
    </Checkbox.Group>
  );
}

/** Make a registered user an operator. */
export function NewOperatorDialog({ onClose }: { onClose: () => void }) {
  const [user, setUser] = useState("");
  const [roles, setRoles] = useState<OperatorRole[]>([]);
  const add = useNewOperator(() => {
    onClose();
    toastDone("Operator added", user.trim());
  });
  return (
    <ConfirmDialog
      title="New operator"
      operator={useActingName()}
      missing={[user.trim() === "" && "name a registered user", roles.length === 0 && "choose a role"]}
      asksReason
      reasonLengthMin={REASON_LENGTH_MIN}
      reasonStandsIn={TRAIL}
      confirm="Make an operator"
      isBusy={add.isPending}
      problem={explainIfAny(add.error)}
      onConfirm={(reason) => add.mutate({ user: user.trim(), roles, reason })}
      onClose={onClose}
    >
      <TextInput
        label="Registered user"
        description="E-mail address or id. The address must be verified, and the roles open nothing before the user has a second factor."
        value={user}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        maxLength={254}
        data-autofocus
        onChange={(event) => setUser(event.currentTarget.value)}
      />
      <RoleChoice chosen={roles} onChange={setRoles} />
    </ConfirmDialog>
  );
}

/** Give an operator other roles, or none. */
export function RolesDialog({ operator, onClose }: { operator: OperatorUser; onClose: () => void }) {
  const [roles, setRoles] = useState<OperatorRole[]>(operator.roles);
  const change = useRoleChange(operator, () => {
    onClose();
    toastDone(roles.length === 0 ? "No operator any more" : "Roles changed", operator.email);
  });
  return (
    <ConfirmDialog
      title={`Roles of ${operator.email}`}
      operator={useActingName()}
      comparisons={[{ name: "Roles", before: namesOf(operator.roles), after: namesOf(roles) }]}
      missing={[namesOf(roles) === namesOf(operator.roles) && "choose other roles"]}
      asksReason
      reasonLengthMin={REASON_LENGTH_MIN}
      reasonStandsIn={TRAIL}
      confirm={roles.length === 0 ? "End every role" : "Change the roles"}
      danger={roles.length === 0}
      isBusy={change.isPending}
      problem={explainIfAny(change.error)}
      onConfirm={(reason) => change.mutate({ roles, reason })}
      onClose={onClose}
    >
      <RoleChoice chosen={roles} onChange={setRoles} />
      <p>
        {roles.length === 0
          ? "All sessions of this user end at once, those of the trading screen too."
          : "The change holds from the next request on, in the sessions that are open."}
      </p>
    </ConfirmDialog>
  );
}

/** End a session of an operator. */
export function SessionEndDialog({ session, onClose }: { session: OperatorSession; onClose: () => void }) {
  const end = useSessionEnd(session.sessionId, () => {
    onClose();
    toastDone("Session ended", session.email);
  });
  return (
    <ConfirmDialog
      title={`End the session of ${session.email}?`}
      operator={useActingName()}
      asksReason
      reasonLengthMin={REASON_LENGTH_MIN}
      reasonStandsIn={TRAIL}
      confirm="End the session"
      danger
      isBusy={end.isPending}
      problem={explainIfAny(end.error)}
      onConfirm={(reason) => end.mutate(reason)}
      onClose={onClose}
    >
      <p>
        From {session.address}. {session.current ? "It is your own: you are logged out. " : ""}It opens
        nothing from the next request on.
      </p>
    </ConfirmDialog>
  );
}
