import { TextInput } from "@mantine/core";
import { useState } from "react";
import { t } from "#lib/language.ts";
import { useZone } from "#lib/preferences.ts";
import { LOCAL_ZONE } from "#lib/time.ts";
import { momentOf } from "./moments.ts";

/** Until when an order is good, as a date and a time of the page's zone. Hands on UTC, or an empty text. */
export default function ExpiryField({ onExpiry }: { onExpiry: (expiresAt: string) => void }) {
  const zone = useZone();
  const [typed, setTyped] = useState("");
  const [fault, setFault] = useState<string | null>(null);
  return (
    <TextInput
      type="datetime-local"
      label={t("Good till")}
      description={
        zone === LOCAL_ZONE ? t("In the time of this computer.") : t("In the time of {zone}.", { zone })
      }
      value={typed}
      error={fault}
      onChange={({ currentTarget: { value } }) => {
        const at = momentOf(value, zone);
        const isPast = at !== null && at <= Date.now();
        setTyped(value);
        setFault(isPast ? t("That is over already.") : null);
        onExpiry(at === null || isPast ? "" : new Date(at).toISOString());
      }}
    />
  );
}
