import type { QueryClient } from "@tanstack/react-query";
import { type ReactNode, StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { LANGUAGES, t } from "../language.ts";
import { setBrand } from "../brand.ts";
import { type Catalogues, startLanguage } from "../languageChoice.ts";
import { loadPageConfig, type PageConfig } from "../pageConfig.ts";
import { startFigures } from "../preferences.ts";
import { tellUnloaded } from "./late.tsx";
import { Providers } from "./Providers.tsx";
import { ErrorState } from "./states.tsx";

interface Start {
  /** What is started, as an English sentence begins with it: "The console". */
  name: string;
  /** Its heading while nothing else can be shown. */
  heading: string;
  client: QueryClient;
  /** Everything of the application, once the addresses of its services are known. */
  application: (config: PageConfig) => ReactNode;
  /** How the catalogues of other languages than English are loaded; without them there is no choice. */
  catalogues?: Catalogues;
}

/** Show an application in #root. Without its configuration it says so, and tries again when asked. */
export function startPage({ name, heading, client, application, catalogues }: Start): void {
  const element = document.getElementById("root");
  if (!element) throw new Error("index.html has no #root");
  startFigures();
  forgetMissingFiles();
  const root = createRoot(element);
  const start = async () => {
    const language =
      catalogues &&
      startLanguage(catalogues, (name) =>
        tellUnloaded(t("{language} could not be loaded.", { language: LANGUAGES[name] })),
      );
    try {
      const config = await loadPageConfig();
      await language;
      setBrand(config.brand);
      root.render(
        <StrictMode>
          <Providers client={client}>{application(config)}</Providers>
        </StrictMode>,
      );
    } catch (error) {
      await language;
      const problem = {
        title: t("{name} has no configuration", { name: t(name) }),
        detail: error instanceof Error ? error.message : String(error),
        advice: t(
          "The web server tells it where the exchange is. See that the web server runs, then try again.",
        ),
      };
      root.render(
        <Providers client={client}>
          <main>
            <h1 hidden>{heading}</h1>
            <ErrorState problem={problem} onRetry={() => void start()} />
          </main>
        </Providers>,
      );
    }
  };
  void start();
}

/** A style that could not be loaded is no longer asked for in the page, so that the next try asks for it again. */
function forgetMissingFiles(): void {
  const forget = ({ target }: Event) => target instanceof HTMLLinkElement && target.remove();
  // An error of a file is told on the way down alone.
  document.addEventListener("error", forget, true);
}
