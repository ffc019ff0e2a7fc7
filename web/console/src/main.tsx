import "#lib/theme/styles.ts";
import { QueryClient } from "@tanstack/react-query";
import { startPage } from "#lib/components/startPage.tsx";
import { App } from "./App.tsx";
import { connectEngine, EngineContext } from "./engine/engine.ts";
import { clearStatsHistory } from "./engine/queries.ts";
import { currentSession, onSessionChange } from "./engine/session.ts";

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
onSessionChange(() => {
  if (currentSession() !== null) return;
  client.clear();
  clearStatsHistory();
});

startPage({
  name: "The console",
  heading: "OpenSpot console",
  client,
  application: ({ engineUrl }) => (
    <EngineContext value={connectEngine(engineUrl)}>
      <App />
    </EngineContext>
  ),
});
