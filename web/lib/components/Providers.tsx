import { MantineProvider } from "@mantine/core";
import { Notifications } from "@mantine/notifications";
import { type QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { Fragment, type ReactNode } from "react";
import { useLanguage } from "../language.ts";
import { useFigures } from "../preferences.ts";
import { cssVariablesResolver, theme } from "../theme/theme.ts";

/** Theme, toasts and server state, around everything. */
export function Providers({ client, children }: { client: QueryClient; children: ReactNode }) {
  const figures = useFigures();
  const language = useLanguage();
  return (
    <MantineProvider theme={theme} cssVariablesResolver={cssVariablesResolver} defaultColorScheme="auto">
      <QueryClientProvider client={client}>
        {/* At the right they would lie on what sends an order, and on the actions of rows. */}
        {/* The pointer keeps the message that it is on, and not all of them: later ones would wait for it. */}
        <Notifications position="bottom-center" limit={4} zIndex={400} pauseResetOnHover="notification" />
        {/* Other separators are in every figure, another language is in every text: everything is drawn anew. */}
        <Fragment key={`${language} ${figures ?? ""}`}>{children}</Fragment>
      </QueryClientProvider>
    </MantineProvider>
  );
}
