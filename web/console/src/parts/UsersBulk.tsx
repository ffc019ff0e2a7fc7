import { useState } from "react";
import { type Edge, returned } from "../operator/client.ts";
import type { FoundUser } from "../people/queries.ts";
import { BulkDialog, type BulkRequest } from "./BulkDialog.tsx";
import { OpenOrdersDialog } from "./OpenOrdersDialog.tsx";
import { type Selection, SelectionBar } from "./selection.tsx";

/** Users of one bulk action at most. */
export const USERS_MAX = 100;

const ACTIONS = {
  "lock-login": {
    label: "Lock the logins…",
    needs: "users.lock_login",
    danger: true,
    text: "All sessions end at once, API keys rest, and nobody can log in until the lock is ended. Open orders stay.",
  },
  "unlock-login": {
    label: "Unlock the logins…",
    needs: "users.lock_login",
    danger: false,
    text: "The users are told of it, and can log in at once.",
  },
  "lock-withdrawals": {
    label: "Lock the withdrawals…",
    needs: "users.lock_withdrawals",
    danger: true,
    text: "No withdrawal is made, approved, signed or sent until the lock is ended. Those under way wait.",
  },
  "unlock-withdrawals": {
    label: "Unlock the withdrawals…",
    needs: "users.lock_withdrawals",
    danger: false,
    text: "The users are told of it, and can withdraw at once.",
  },
  "end-sessions": {
    label: "End all sessions…",
    needs: "sessions.end_any",
    danger: true,
    text: "The users can log in again at once. API keys stay; lock the logins to stop them, too.",
  },
} as const;

type Action = keyof typeof ACTIONS;
const CANCEL_ORDERS = "cancel-orders";

function send({ rest }: Edge, action: Action, request: BulkRequest) {
  const { ids, dryRun, reason, key } = request;
  const params = { header: { "Idempotency-Key": key } };
  const body = { userIds: [...ids], dryRun, reason };
  // A dry run repeats nothing: its reply must not be kept under the key.
  const options = dryRun ? { body } : { params, body };
  switch (action) {
    case "lock-login":
      return returned(rest.POST("/api/v1/operator/bulk/lock-login", options));
    case "unlock-login":
      return returned(rest.POST("/api/v1/operator/bulk/unlock-login", options));
    case "lock-withdrawals":
      return returned(rest.POST("/api/v1/operator/bulk/lock-withdrawals", options));
    case "unlock-withdrawals":
      return returned(rest.POST("/api/v1/operator/bulk/unlock-withdrawals", options));
    case "end-sessions":
      return returned(rest.POST("/api/v1/operator/bulk/end-sessions", options));
  }
}

/** What can be done with the users that are chosen. */
export function UsersBulk({ selection, users }: { selection: Selection; users: readonly FoundUser[] }) {
  const [asked, setAsked] = useState<{
    action: Action | typeof CANCEL_ORDERS;
    ids: readonly string[];
  } | null>(null);
  const nameOf = (id: string) => users.find(({ userId }) => userId === id)?.email ?? id;
  const close = () => setAsked(null);
  return (
    <>
      <SelectionBar
        selection={selection}
        noun="user"
        most={USERS_MAX}
        choices={[
          ...(Object.keys(ACTIONS) as Action[]).map((action) => ({
            label: ACTIONS[action].label,
            needs: ACTIONS[action].needs,
            danger: ACTIONS[action].danger,
            onClick: () => setAsked({ action, ids: selection.ids }),
          })),
          {
            label: "Cancel the open orders…",
            needs: "orders.cancel_all" as const,
            danger: true,
            onClick: () => setAsked({ action: CANCEL_ORDERS, ids: selection.ids }),
          },
        ]}
      />
      {asked?.action === CANCEL_ORDERS && (
        <OpenOrdersDialog ids={asked.ids} nameOf={nameOf} onClose={close} />
      )}
      {asked && asked.action !== CANCEL_ORDERS && (
        <ActionDialog action={asked.action} ids={asked.ids} nameOf={nameOf} onClose={close} />
      )}
    </>
  );
}

interface ActionProps {
  action: Action;
  ids: readonly string[];
  nameOf: (id: string) => string;
  onClose: () => void;
}

function ActionDialog({ action, ids, nameOf, onClose }: ActionProps) {
  const { label, danger, text } = ACTIONS[action];
  return (
    <BulkDialog
      title={label.replace("…", "?")}
      noun="user"
      ids={ids}
      nameOf={nameOf}
      confirm={label.replace("…", "")}
      danger={danger}
      act={(edge, request) => send(edge, action, request)}
      onClose={onClose}
    >
      <p>{text}</p>
    </BulkDialog>
  );
}
