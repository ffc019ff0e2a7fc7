import { Skeleton } from "@mantine/core";
import { Badge, type Tone } from "#lib/components/Badge.tsx";
import { Card } from "#lib/components/Card.tsx";
import { PageHeader } from "#lib/components/PageHeader.tsx";
import { ErrorState, WarningNote } from "#lib/components/states.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import { rich, t, texts } from "#lib/language.ts";
import { DetailsForm } from "../../account/DetailsForm.tsx";
import { DocumentCheck } from "../../account/DocumentCheck.tsx";
import { Documents } from "../../account/Documents.tsx";
import { useVerification } from "../../account/queries.ts";
import type { Schemas } from "../../api/client.ts";
import { explain } from "../../api/messages.ts";
import classes from "../../account/Verification.module.css";
import { AssetAmount } from "../../parts/AssetAmount.tsx";

type Verification = Schemas["KycStatusResponse"];

const LEVELS: Readonly<Record<Verification["level"], string>> = {
  get none() {
    return t("None");
  },
  get basic() {
    return t("Basic");
  },
  get verified() {
    return t("Verified");
  },
};

const STATES: Readonly<Record<Verification["status"], readonly [tone: Tone, shape: string, word: string]>> =
  texts({
    not_started: ["neutral", "○", "Not started"],
    pending: ["warning", "◐", "Being checked"],
    on_hold: ["warning", "◐", "On hold"],
    approved: ["positive", "●", "Approved"],
    retry: ["negative", "✕", "Refused: try again"],
    rejected: ["negative", "✕", "Refused"],
  });

/** How well the exchange knows the user, what that allows, and what the next level needs. */
export default function VerificationPage() {
  const query = useVerification();
  return (
    <>
      <PageHeader title={t("Verification")}>
        {t(
          "The better the exchange knows you, the more you may withdraw. Details lead to the level Basic, a check of your documents to Verified.",
        )}
      </PageHeader>
      {query.data ? (
        <div className={classes.cards}>
          <Summary verification={query.data} />
          <Next verification={query.data} />
        </div>
      ) : query.error ? (
        <ErrorState problem={explain(query.error)} onRetry={() => void query.refetch()} />
      ) : (
        <Skeleton height={240} role="progressbar" aria-label={t("Loading the verification")} />
      )}
    </>
  );
}

function Summary({
  verification: { level, status, dailyWithdrawalLimit, updatedAt },
}: {
  verification: Verification;
}) {
  const [tone, shape, word] = STATES[status];
  return (
    <Card title={t("Your level")}>
      <dl className={classes.summary}>
        <div>
          <dt>{t("Level")}</dt>
          <dd>{LEVELS[level]}</dd>
        </div>
        <div>
          <dt>{t("Withdrawals in 24 hours")}</dt>
          <dd>
            {dailyWithdrawalLimit === "0" ? (
              t("None yet")
            ) : (
              <>
                {rich("up to {dailyWithdrawalLimit}", {
                  dailyWithdrawalLimit: <AssetAmount value={dailyWithdrawalLimit} asset="USD" />,
                })}
              </>
            )}
          </dd>
        </div>
        <div>
          <dt>{t("Check of documents")}</dt>
          <dd>
            <Badge tone={tone} shape={shape}>
              {t(word)}
            </Badge>
          </dd>
        </div>
        {updatedAt !== null && (
          <div>
            <dt>{t("Last change")}</dt>
            <dd>
              <TimeText milliseconds={Date.parse(updatedAt)} />
            </dd>
          </div>
        )}
      </dl>
    </Card>
  );
}

/** What is left to do, by where the verification stands. */
function Next({ verification }: { verification: Verification }) {
  const { level, status, hasBasicInformation } = verification;
  if (status === "rejected")
    return (
      <Card title={t("Your verification was refused")}>
        <p className={classes.text}>
          {t(
            "The check of your documents has decided, and it cannot be repeated. You can trade and deposit; withdrawals are as far as the limit above. Ask the operator if you think that this is wrong.",
          )}
        </p>
      </Card>
    );
  if (level === "verified")
    return (
      <Card title={t("Nothing is left to do")}>
        <p className={classes.text}>{t("You have the highest level.")}</p>
      </Card>
    );
  return (
    <>
      {status === "retry" && (
        <WarningNote>
          {t(
            "Your documents were refused: they could not be read, or did not agree with your details. Correct your details below if they are wrong, and start the check again.",
          )}
        </WarningNote>
      )}
      {!hasBasicInformation && <DetailsForm title={t("Next: your details, for the level Basic")} />}
      {hasBasicInformation && <DocumentCheck status={status} />}
      {(status === "pending" || status === "on_hold") && <Documents />}
      {hasBasicInformation && status !== "pending" && status !== "on_hold" && (
        <DetailsForm title={t("Correct your details")} isCorrection />
      )}
    </>
  );
}
