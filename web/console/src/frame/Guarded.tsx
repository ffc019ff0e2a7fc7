import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import { Redirect, useLocation } from "wouter";
import { Card } from "#lib/components/Card.tsx";
import { PageHeader } from "#lib/components/PageHeader.tsx";
import { EmptyState } from "#lib/components/states.tsx";
import { useSession } from "../engine/session.ts";
import { useCan, useUserSession } from "../operator/session.ts";
import { ENTRIES, entryOf, type Entry } from "./navigation.tsx";

/** Pages below one that a permission opens, which the engine alone opens. */
const FORMS_OF_THE_ENGINE: readonly Pick<Entry, "path" | "title" | "needs" | "orEngine">[] = [
  { path: "/participants/new", title: "New participant", needs: "engine" },
];

/** Which entries the tab's sessions may open. */
export function useOpens(): (entry: Pick<Entry, "needs" | "orEngine">) => boolean {
  const { session } = useSession();
  const can = useCan();
  return ({ needs, orEngine }) =>
    needs === "engine" || (orEngine === true && session !== null) ? session !== null : can(needs);
}

/** The page at `location`, or what is missing to open it. */
export function Guarded({ location, children }: { location: string; children: ReactNode }) {
  const [, navigate] = useLocation();
  const opens = useOpens();
  const user = useUserSession().session;
  const entry = FORMS_OF_THE_ENGINE.find(({ path }) => path === location) ?? entryOf(location);
  if (entry === undefined || opens(entry)) return children;
  const first = ENTRIES.find(opens);
  // The start page is the engine's. Without a session there, it is the first page that opens.
  if (entry.path === "/" && first !== undefined) return <Redirect to={first.path} replace />;
  const isOfEngine = entry.needs === "engine";
  return (
    <>
      <PageHeader title={entry.title}>This page is closed to you.</PageHeader>
      <Card flush>
        <EmptyState
          title={
            isOfEngine ? "A session with the engine is missing" : `The permission ${entry.needs} is missing`
          }
          action={
            isOfEngine && (
              <Button variant="default" onClick={() => navigate("/login")}>
                Log in to the engine too
              </Button>
            )
          }
        >
          {isOfEngine
            ? "The engine itself shows and changes this, for participants of type SUPER_ADMIN and SYSTEM."
            : `Your roles are ${user?.roles.join(", ") ?? "unknown"}. An administrator can give you one that has it; the page of types and permissions says which.`}
        </EmptyState>
      </Card>
    </>
  );
}
