import { Button } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Card } from "#lib/components/Card.tsx";
import { CopyText } from "#lib/components/CopyText.tsx";
import { ProblemNote } from "#lib/components/states.tsx";
import { rich, t } from "#lib/language.ts";
import { returned, type Schemas, useExchange } from "../api/client.ts";
import { explain, sayReason } from "../api/messages.ts";
import classes from "./Verification.module.css";
import { useDocuments, VERIFICATION } from "./queries.ts";

type Status = Schemas["KycStatusResponse"]["status"];

const isOpen = (status: Status) => status === "pending" || status === "on_hold";

/** The check of documents by the provider: starts it, and says how it goes on. */
export function DocumentCheck({ status }: { status: Status }) {
  const { rest } = useExchange();
  const client = useQueryClient();
  const { data: uploads } = useDocuments(isOpen(status));
  // Starting again while it runs gives the same session.
  const start = useMutation({
    mutationFn: () => returned(rest.POST("/api/v1/kyc/start", { body: { level: "verified" } })),
    onSettled: () => void client.invalidateQueries({ queryKey: VERIFICATION }),
  });
  const session = start.data;
  const told = session && sayReason(session.instructions);
  // They are uploaded below, not at a provider.
  const isOfExchange = isOpen(status) && uploads?.provider === null;
  const isMissing = isOfExchange && uploads.documents.length === 0;
  return (
    <Card
      title={
        isMissing
          ? t("Next: upload your documents")
          : isOpen(status)
            ? t("Your documents are being checked")
            : t("Next: your documents, for the level Verified")
      }
    >
      <div className={classes.stack}>
        <p className={classes.text}>
          {status === "on_hold"
            ? t(
                "The check waits for something: see what is asked for, or wait. This page shows the outcome by itself.",
              )
            : status === "pending"
              ? isMissing
                ? t(
                    "A person of the exchange looks at them and decides. This page shows the outcome by itself.",
                  )
                : t("It may take a while. This page shows the outcome by itself.")
              : t(
                  "Keep your passport or identity card at hand. Your name must be written as in your details.",
                )}
        </p>
        {session && isOpen(status) && (
          <>
            {!isOfExchange && told && (
              <p className={classes.text} lang={told.language}>
                {told.detail.charAt(0).toUpperCase() + told.detail.slice(1)}
              </p>
            )}
            <div>
              {rich("Reference: {copyText}", {
                copyText: <CopyText text={session.reference} name={t("reference")} />,
              })}
            </div>
            {session.url !== null && /^https?:\/\//.test(session.url) && (
              <Button component="a" href={session.url} target="_blank" rel="noopener noreferrer">
                {rich("Go on at {provider}", { provider: session.provider })}
              </Button>
            )}
          </>
        )}
        {start.error && <ProblemNote problem={explain(start.error)} />}
        {!(session && isOpen(status)) && (
          <Button
            variant={isOpen(status) ? "default" : "filled"}
            loading={start.isPending}
            onClick={() => start.mutate()}
          >
            {isOpen(status)
              ? t("Show how it goes on")
              : status === "retry"
                ? t("Start the check again")
                : t("Start the check")}
          </Button>
        )}
      </div>
    </Card>
  );
}
