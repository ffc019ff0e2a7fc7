import "#lib/theme/styles.ts";
import { QueryClient } from "@tanstack/react-query";
import { startPage } from "#lib/components/startPage.tsx";
import { App } from "./App.tsx";
import { connectEngine, EngineContext } from "./engine/engine.ts";
import { clearStatsHistory } from "./engine/queries.ts";
import { currentSession, onSessionChange } from "./engine/session.ts";
import { connectEdge, EdgeContext } from "./operator/client.ts";
import { currentUserSession, onUserSessionChange } from "./operator/session.ts";

const NOBODY = "|";

/** Whose sessions the tab has. */
function readersNow(): string {
  return `${currentSession()?.participantId ?? ""}|${currentUserSession()?.userId ?? ""}`;
}

const client = new QueryClient({
  defaultOptions: {
    queries: {
      // What is shown is polled: the next poll is the retry. The engine may be on this computer, so a
      // browser that is offline asks all the same.
      retry: false,
      networkMode: "always",
      staleTime: 1_000,
      refetchOnWindowFocus: true,
    },
    mutations: { retry: false, networkMode: "always" },
  },
});

// What one session has read is not shown to the next.
let readers = readersNow();
const forget = () => {
  const before = readers;
  readers = readersNow();
  if (before === readers) return;
  if (before !== NOBODY) client.clear();
  if (currentSession() === null) clearStatsHistory();
};
onSessionChange(forget);
onUserSessionChange(forget);

startPage({
  name: "The console",
  heading: "OpenSpot console",
  client,
  application: ({ engineUrl, restUrl }) => (
    <EngineContext value={connectEngine(engineUrl)}>
      <EdgeContext value={connectEdge(restUrl)}>
        <App />
      </EdgeContext>
    </EngineContext>
  ),
});
