import { TextInput } from "@mantine/core";
import { useEffect, useState } from "react";
import { t } from "#lib/language.ts";
import { useZone } from "#lib/preferences.ts";
import { LOCAL_ZONE } from "#lib/time.ts";
import { useNow } from "#lib/useNow.ts";
import { momentOf, typedMoment } from "./moments.ts";

/** How often the field looks whether its moment is over. */
const LOOKED_MS = 5_000;

interface ExpiryFieldProps {
  /** The moment in UTC; empty before it is chosen. The draft has it, which outlives the field. */
  expiresAt: string;
  onExpiry: (expiresAt: string) => void;
}

/** Until when an order is good, as a date and a time of the page's zone. Hands on UTC, or an empty text. */
export default function ExpiryField({ expiresAt, onExpiry }: ExpiryFieldProps) {
  const zone = useZone();
  const now = useNow(LOOKED_MS);
  // An order that would end before it begins is not sent; the field goes on to say why.
  const isOver = expiresAt !== "" && Date.parse(expiresAt) <= now;
  const good = isOver ? "" : expiresAt;
  useEffect(() => {
    if (isOver) onExpiry("");
  });
  /** What the field says, for which expiry and in which zone: others have other words. */
  const [typed, setTyped] = useState({ text: textOf(expiresAt, zone), good, zone });
  if (typed.good !== good || typed.zone !== zone) setTyped({ text: textOf(expiresAt, zone), good, zone });
  const at = momentOf(typed.text, zone);
  const isPast = at !== null && at <= now;
  const hand = (text: string) => {
    const next = momentOf(text, zone);
    const handed = next === null || next <= now ? "" : new Date(next).toISOString();
    setTyped({ text, good: handed, zone });
    onExpiry(handed);
  };
  return (
    <TextInput
      type="datetime-local"
      label={t("Good till")}
      description={
        zone === LOCAL_ZONE ? t("In the time of this computer.") : t("In the time of {zone}.", { zone })
      }
      value={typed.text}
      error={isPast ? t("That is over already.") : null}
      onChange={({ currentTarget: { value } }) => hand(value)}
    />
  );
}

const textOf = (expiresAt: string, zone: string) =>
  typedMoment(expiresAt === "" ? null : Date.parse(expiresAt), zone);
