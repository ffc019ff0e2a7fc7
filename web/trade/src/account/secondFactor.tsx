import { TextInput } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { t } from "#lib/language.ts";
import { RefusedError } from "../api/errors.ts";
import { useMfa } from "./queries.ts";

const CODE_LENGTH_MIN = 6;

interface SecondFactor {
  /** The field for the code; null where the account has no two-factor authentication. */
  field: ReactNode;
  /** What a request carries of it. */
  body: { mfaCode?: string };
  isMissing: boolean;
  /** Forget the code: each works once. */
  clear: () => void;
}

/** The code that a request needs where the account has two-factor authentication. `error` is what the last request met. */
export function useSecondFactor(error: unknown): SecondFactor {
  const mfa = useMfa();
  const [code, setCode] = useState("");
  // The factor may have been switched on meanwhile, in another window.
  const isWanted =
    mfa.data?.enabled === true || (error instanceof RefusedError && error.code.includes("MFA"));
  const text = code.trim();
  return {
    field: isWanted ? (
      <TextInput
        label={t("Two-factor authentication code")}
        description={t("Of your authenticator app, or one of your recovery codes.")}
        value={code}
        autoComplete="one-time-code"
        maxLength={40}
        onChange={(event) => setCode(event.currentTarget.value)}
      />
    ) : null,
    body: isWanted ? { mfaCode: text } : {},
    isMissing: isWanted && text.length < CODE_LENGTH_MIN,
    clear: () => setCode(""),
  };
}
