/** Queries of proofs of reserves. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { returned, useExchange } from "../api/client.ts";
import { checkProof, type Owed, type Proof } from "./proof.ts";

/** What the exchange has proved, the newest first. */
export function useStatements() {
  const { rest } = useExchange();
  return useQuery({
    queryKey: ["reserves"],
    queryFn: ({ signal }) => returned(rest.GET("/api/v1/reserves", { signal })),
    meta: { isPublic: true },
  });
}

/** A user's part of a proof, and what it says that the user is owed. */
export interface Checked {
  proof: Proof;
  owed: Owed[];
}

/** Read the user's part of a proof and check it here. Fails with ProofError if it does not hold. */
export function useCheck(userId: string) {
  const { rest } = useExchange();
  return useMutation({
    mutationFn: async (proofId: string): Promise<Checked> => {
      const proof = await returned(
        rest.GET("/api/v1/reserves/{proofId}/own", { params: { path: { proofId } } }),
      );
      return { proof, owed: await checkProof(proof, userId) };
    },
  });
}
