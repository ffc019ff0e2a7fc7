import { Select, SimpleGrid } from "@mantine/core";
import { useState } from "react";
import { ProblemNote } from "#lib/components/states.tsx";
import { explain } from "../engine/messages.ts";
import { returned } from "../operator/client.ts";
import { type QueuedVerification, useVerification } from "../people/queries.ts";
import { ReasonDialog } from "./ReasonDialog.tsx";
import { VerificationDocuments, VerificationInformation } from "./VerificationDocuments.tsx";
import { DECISIONS, LEVELS } from "./verificationChoices.ts";

/** What a user stated, and the decision on it. */
export function VerificationDialog({ row, onClose }: { row: QueuedVerification; onClose: () => void }) {
  const { userId } = row;
  const query = useVerification(userId);
  const [decision, setDecision] = useState<(typeof DECISIONS)[number]["value"] | null>(null);
  const [level, setLevel] = useState<(typeof LEVELS)[number]["value"]>("verified");
  // The edge refuses the decision if the user has exchanged them since, or states something else.
  const seen = query.data?.documents.filter((each) => each.isOfThisCheck).map(({ sha256 }) => sha256);
  const chosen = DECISIONS.find(({ value }) => value === decision);
  return (
    <ReasonDialog
      title="Decide on the verification?"
      missing={[!query.data && "wait for what the user stated", decision === null && "choose a decision"]}
      typed={decision === "reject" ? userId : ""}
      confirm={chosen?.label ?? "Decide"}
      danger={decision === "retry" || decision === "reject"}
      act={({ rest }, reason) =>
        returned(
          rest.POST("/api/v1/operator/verifications/{userId}/decision", {
            params: { path: { userId } },
            body: {
              decision: decision ?? "hold",
              level,
              reason,
              documents: seen ?? null,
              updatedAt: query.data?.updatedAt ?? null,
            },
          }),
        )
      }
      done={({ status, level: now }) => ["Decided", `${userId} is ${now}, ${status.replaceAll("_", " ")}`]}
      onClose={onClose}
    >
      {query.error && <ProblemNote problem={explain(query.error)} />}
      {query.data && (
        <>
          <VerificationInformation stated={query.data.information} />
          <VerificationDocuments userId={userId} documents={query.data.documents} />
        </>
      )}
      <p>
        {row.reference === null ? "No check has begun." : `The check has the reference ${row.reference}.`} The
        audit trail notes that you opened this, and which documents the decision was based on.
      </p>
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
        <Select
          label="Decision"
          placeholder="Choose"
          data={[...DECISIONS]}
          value={decision}
          onChange={(value) => setDecision(DECISIONS.find((each) => each.value === value)?.value ?? null)}
        />
        <Select
          label="Level that it is about"
          data={[...LEVELS]}
          value={level}
          allowDeselect={false}
          onChange={(value) => setLevel(LEVELS.find((each) => each.value === value)?.value ?? "verified")}
        />
      </SimpleGrid>
    </ReasonDialog>
  );
}
