/** Who is to decide on withdrawals: the operators who can be asked, and the change. */
import { useQuery } from "@tanstack/react-query";
import { type Edge, returned, type Schemas, useEdge } from "../operator/client.ts";

export type Assignee = Schemas["AssigneeResponse"];

const INTERVAL_MS = 30_000;

/** The users who may decide on withdrawals. */
export function useAssignees() {
  const { rest } = useEdge();
  return useQuery({
    queryKey: ["people", "assignees"],
    queryFn: ({ signal }) => returned(rest.GET("/api/v1/operator/withdrawals/assignees", { signal })),
    refetchInterval: INTERVAL_MS,
  });
}

/** What an operator is called in a list: the e-mail address of a user, else the name itself. */
export function shownOperator(name: string | null, assignees: readonly Assignee[] | undefined): string {
  if (name === null) return "–";
  return assignees?.find(({ operator }) => operator === name)?.email ?? name;
}

export interface Assignment {
  id: string;
  assignee: string | null;
  expected: string | null;
  reason: string;
}

/** Say who is to decide on a withdrawal. Fails with EdgeError. */
export function assign({ rest }: Edge, { id, ...body }: Assignment) {
  return returned(rest.PUT("/api/v1/operator/withdrawals/{id}/assignee", { params: { path: { id } }, body }));
}
