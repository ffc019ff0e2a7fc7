import { Select, SimpleGrid } from "@mantine/core";
import { useState } from "react";
import { returned } from "../operator/client.ts";
import { BulkDialog } from "./BulkDialog.tsx";
import { DECISIONS, LEVELS } from "./verificationChoices.ts";

/** One decision on several verifications. What users stated is not shown here: open one to read it. */
export function VerificationsBulk({ ids, onClose }: { ids: readonly string[]; onClose: () => void }) {
  const [decision, setDecision] = useState<(typeof DECISIONS)[number]["value"] | null>(null);
  const [level, setLevel] = useState<(typeof LEVELS)[number]["value"]>("verified");
  return (
    <BulkDialog
      basis={`${decision} ${level}`}
      title="Decide on the verifications?"
      noun="verification"
      ids={ids}
      confirm={DECISIONS.find(({ value }) => value === decision)?.label ?? "Decide"}
      danger={decision === "retry" || decision === "reject"}
      missing={decision === null && "choose a decision"}
      act={({ rest }, { ids: userIds, dryRun, reason, key, told }) =>
        returned(
          rest.POST("/api/v1/operator/bulk/decide-verifications", {
            ...(dryRun ? {} : { params: { header: { "Idempotency-Key": key } } }),
            body: {
              userIds: [...userIds],
              decision: decision ?? "hold",
              level,
              dryRun,
              reason,
              // Decided is what the dry run told: a row that has changed since is refused.
              ...(told && {
                seen: told.rows.flatMap(({ id, was }) => (was ? [{ userId: id, state: was.state }] : [])),
              }),
            },
          }),
        )
      }
      onClose={onClose}
    >
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
    </BulkDialog>
  );
}
