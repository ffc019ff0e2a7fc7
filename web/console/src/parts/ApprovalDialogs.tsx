import { Amount } from "#lib/components/Amount.tsx";
import { returned } from "../operator/client.ts";
import type { OperatorRequest } from "../people/queries.ts";
import { ReasonDialog } from "./ReasonDialog.tsx";

export const REQUEST_TITLES: Record<OperatorRequest["kind"], string> = {
  adjustment: "Adjust a balance",
  second_factor_reset: "Reset the second factor",
  account_closure: "Close the account",
  house_transfer: "Move money of the house",
  engine_adjustments: "Book adjustments of the engine",
  house_flow: "Record money from or to outside",
};

const CONSEQUENCES: Record<OperatorRequest["kind"], string> = {
  adjustment: "The amount moves at once, in the engine and the ledger.",
  second_factor_reset: "The user logs in with the password alone from then on. All sessions end.",
  account_closure:
    "The account and its personal data are deleted for good, if nothing is left on it. Records of money stay.",
  house_transfer: "The amount moves at once, in the engine and the ledger, if it is available.",
  engine_adjustments: "Whoever asked can book exactly these in the ledger then.",
  house_flow: "The amount comes in or goes out at once, in the engine and the ledger, if it is available.",
};

/** What is asked for, in a line. */
export function RequestSummary({ request }: { request: OperatorRequest }) {
  const { asset, amount, category, to, reference } = request.detail;
  if (request.kind === "house_transfer" && amount !== undefined)
    return (
      <>
        <Amount value={amount} unit={asset} /> to {to}
      </>
    );
  if (request.kind === "house_flow" && amount !== undefined)
    return (
      <>
        <Amount value={amount} unit={asset} signed /> as {category}, {reference} outside
      </>
    );
  if (request.kind === "engine_adjustments")
    return (
      <>
        Book {request.detail.count} adjustments of the engine, {request.detail.amounts} in all, of{" "}
        {request.detail.accounts?.replaceAll(",", ", ")}
      </>
    );
  if (request.kind !== "adjustment" || amount === undefined) return REQUEST_TITLES[request.kind];
  return (
    <>
      <Amount value={amount} unit={asset} signed /> as {category}
    </>
  );
}

/** Whether a request is about an account of the house, not about a user. */
export function isOfTheHouse({ kind }: OperatorRequest): boolean {
  return OF_THE_HOUSE.has(kind);
}

const OF_THE_HOUSE = new Set<OperatorRequest["kind"]>(["house_transfer", "engine_adjustments", "house_flow"]);

/** What can be moved back. */
const MOVES_MONEY = new Set<OperatorRequest["kind"]>(["adjustment", "house_transfer"]);

interface Props {
  request: OperatorRequest;
  decision: "approval" | "rejection";
  onClose: () => void;
}

/** Approve or reject what another operator asked for. */
export function RequestDialog({ request, decision, onClose }: Props) {
  const isApproval = decision === "approval";
  const params = { path: { id: request.id } };
  return (
    <ReasonDialog
      title={isApproval ? "Approve the request?" : "Reject the request?"}
      typed={isApproval ? request.userId : ""}
      confirm={isApproval ? "Approve" : "Reject"}
      danger={!isApproval || !MOVES_MONEY.has(request.kind)}
      act={({ rest }, reason) =>
        returned(
          isApproval
            ? rest.POST("/api/v1/operator/requests/{id}/approval", { params, body: { reason } })
            : rest.POST("/api/v1/operator/requests/{id}/rejection", { params, body: { reason } }),
        )
      }
      done={() => [
        isApproval ? "Approved" : "Rejected",
        `${REQUEST_TITLES[request.kind]}: ${request.userId}`,
      ]}
      onClose={onClose}
    >
      <p>
        <RequestSummary request={request} />, for {isOfTheHouse(request) ? "the account" : "the user"}{" "}
        {request.userId}. {request.requestedBy} asked for it: {request.reason}
      </p>
      <p>{isApproval ? CONSEQUENCES[request.kind] : "Nothing is done, and whoever asked may ask again."}</p>
    </ReasonDialog>
  );
}
