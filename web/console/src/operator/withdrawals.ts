/** Withdrawals that custody has not settled, and the decisions on them. The web server passes the calls on to custody. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { components } from "#gen/openapi/custody.ts";
import { type Edge, useEdge } from "./client.ts";
import { callWebServer } from "./webServer.ts";

const INTERVAL_MS = 3_000;

type Schemas = components["schemas"];
export type OpenWithdrawal = Schemas["OpenWithdrawal"];
export type WithdrawalStatus = OpenWithdrawal["status"];

/** A decision, named like the end of its route, with its body. */
export type Decision =
  | ({ kind: "approvals" } & Schemas["ApproveBody"])
  | ({ kind: "rejection" } & Schemas["RejectBody"])
  | ({ kind: "signatures" } & Schemas["SignBody"]);

/** The withdrawals that are not settled, the oldest first. Fails with WebServerError. */
export function useOpenWithdrawals() {
  const edge = useEdge();
  return useQuery({
    queryKey: ["withdrawals"],
    queryFn: async ({ signal }) =>
      (await callWebServer(edge, "GET", "/custody/withdrawals", {
        signal,
        endsSession: true,
      })) as Schemas["OpenWithdrawals"],
    refetchInterval: INTERVAL_MS,
  });
}

/** Decide on a withdrawal. Fails with WebServerError. */
export function useDecision(withdrawalId: string, onDone: (decided: OpenWithdrawal) => void) {
  const client = useQueryClient();
  const edge = useEdge();
  return useMutation({
    mutationFn: async ({ kind, ...body }: Decision) =>
      (await callWebServer(edge, "POST", `/custody/withdrawals/${withdrawalId}/${kind}`, {
        body,
        endsSession: true,
      })) as OpenWithdrawal,
    onSuccess: (decided) => {
      onDone(decided);
    },
    // A refused decision means that the list was old.
    onSettled: () => client.invalidateQueries({ queryKey: ["withdrawals"] }),
  });
}

/** Approve or reject several withdrawals, or try what would come of it. `key` names the attempt. Fails with WebServerError. */
export async function decideAll(
  edge: Edge,
  kind: "approvals" | "rejections",
  body: { ids: string[]; dryRun: boolean; reason: string },
  key: string,
): Promise<Schemas["BulkDecisions"]> {
  const path = `/custody/withdrawals/bulk-${kind}`;
  return (await callWebServer(edge, "POST", path, {
    body,
    ...(body.dryRun ? {} : { key }),
    endsSession: true,
  })) as Schemas["BulkDecisions"];
}

/** Whether a withdrawal is the operator's own. An operator is a participant of the engine, or a user by `user:<id>`. */
function isOwn({ userId }: OpenWithdrawal, operator: string): boolean {
  return operator.replace(/^user:/, "").toLowerCase() === userId.toLowerCase();
}

/** Why `operator` cannot approve a withdrawal, or undefined. Custody itself checks it again. */
export function approvalFault(withdrawal: OpenWithdrawal, operator: string): string | undefined {
  const name = operator.toLowerCase();
  if (withdrawal.status !== "pending_approval") return "It does not wait for an approval.";
  if (isOwn(withdrawal, operator)) return "Nobody decides on a withdrawal of their own.";
  if (withdrawal.approvals.includes(name)) return "You have approved it. Another operator has to.";
  if (withdrawal.approvals.length >= withdrawal.approvalsNeeded) return "It has all of its approvals.";
  return undefined;
}

/** Why `operator` cannot reject a withdrawal, or undefined. */
export function rejectionFault(withdrawal: OpenWithdrawal, operator: string): string | undefined {
  if (isOwn(withdrawal, operator)) return "Nobody decides on a withdrawal of their own.";
  return ["pending_approval", "approved", "signing"].includes(withdrawal.status)
    ? undefined
    : "It is being sent already, or has ended.";
}

/** Why nothing can be signed, or undefined. */
export function signatureFault(withdrawal: OpenWithdrawal): string | undefined {
  if (withdrawal.status !== "signing") return "It does not wait for a signature.";
  return unsigned(withdrawal).length === 0 ? "Every signer has signed." : undefined;
}

/** The signers who have not signed yet. */
export function unsigned({ signers, signatures }: OpenWithdrawal): string[] {
  return signers.filter((signer) => !signatures.includes(signer));
}
