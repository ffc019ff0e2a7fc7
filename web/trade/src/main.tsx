import "#lib/theme/styles.ts";
import { QueryClient } from "@tanstack/react-query";
import { startPage } from "#lib/components/startPage.tsx";
import { type Catalogue, texts } from "#lib/language.ts";
import { followProfile } from "./account/followProfile.ts";
import { whileUnreached } from "./api/errors.ts";
import { connectExchange, ExchangeContext } from "./api/client.ts";
import { followAccount, StreamContext } from "./api/live.ts";
import { OF_ONE_USER } from "./api/queries.ts";
import { currentSession, onSessionChange } from "./api/session.ts";
import { App } from "./App.tsx";
import { navigate } from "wouter/use-browser-location";
import { connectStream } from "./stream/connection.ts";

const client = new QueryClient({
  defaultOptions: {
    queries: {
      retry: 2,
      networkMode: "always",
      staleTime: 5_000,
      refetchOnWindowFocus: false,
      refetchInterval: whileUnreached,
    },
    mutations: { retry: false, networkMode: "always" },
  },
});

// Without it the pages work all the same: it is only for when there is no connection.
if (import.meta.env.PROD && "serviceWorker" in navigator)
  window.addEventListener(
    "load",
    () => void navigator.serviceWorker.register("/trade/worker.js").catch(() => undefined),
  );

// A click on a notification of this device, while a page is open: the worker sends its kind.
if ("serviceWorker" in navigator)
  navigator.serviceWorker.addEventListener("message", ({ data }: MessageEvent<unknown>) => {
    if (typeof data === "string") navigate(`/trade/?notice=${encodeURIComponent(data)}`);
  });

const REFUSED_PAUSE_MS = 10_000;
let refusedAt = 0;

// What one user has read is not shown to the next.
let user = currentSession()?.userId ?? null;
onSessionChange(() => {
  const next = currentSession()?.userId ?? null;
  if (next === user) return;
  user = next;
  client.removeQueries(OF_ONE_USER);
  // The exchange ends the notifications of this device with the session: the browser forgets them too.
  void import("./account/devices.ts").then(({ forgetDevice }) => forgetDevice()).catch(() => undefined);
});

/** The other languages: each is a file that is loaded when it is wanted. */
const catalogue = (load: () => Promise<{ default: unknown }>) => () =>
  load().then((loaded) => loaded.default as Catalogue);

startPage({
  name: texts("The page"),
  // eslint-disable-next-line openspot/literal-text -- a name is the same in all languages
  heading: "OpenSpot",
  client,
  catalogues: {
    de: catalogue(() => import("../languages/de.ts")),
    es: catalogue(() => import("../languages/es.ts")),
    "pt-BR": catalogue(() => import("../languages/pt-BR.ts")),
  },
  application: ({ wsUrl, ...addresses }) => {
    const exchange = connectExchange(addresses);
    const stream = connectStream({
      url: wsUrl,
      onTokenRefused: () => {
        // Once in a while: an edge that refuses every token must not be asked for new ones without end.
        if (Date.now() - refusedAt < REFUSED_PAUSE_MS) return;
        refusedAt = Date.now();
        void exchange.freshToken(currentSession()?.accessToken).catch(() => undefined);
      },
    });
    followAccount(stream, client);
    followProfile(exchange, client);
    return (
      <ExchangeContext value={exchange}>
        <StreamContext value={stream}>
          <App />
        </StreamContext>
      </ExchangeContext>
    );
  },
});
