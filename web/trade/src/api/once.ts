/** Requests that must not be carried out twice. */
import { type QueryKey, useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { createStore } from "#lib/store.ts";
import { type Attempt, attempt, attemptsAt, useAttempt } from "./attempts.ts";

/** What is asked for, and where: one who asks for the same there, in another dialog, asks for it once. */
export interface Asking {
  place: string;
  asked: string;
}

interface OnceOptions<Data> {
  /** Query keys that are read again afterwards, after success and after failure. */
  reads: readonly QueryKey[];
  onDone: (data: Data) => void;
  /** Without it the dialog is the place, and changes nothing while the outcome is unknown. */
  asking?: Asking;
}

/** Sends a request with a key. While the outcome is unknown the key stays, so a new try is carried out once. */
export function useOnce<Data>(
  send: (key: string) => Promise<Data>,
  { reads, onDone, asking }: OnceOptions<Data>,
) {
  const client = useQueryClient();
  const [own] = useState(() => createStore<Attempt | null>(null));
  const attempts = asking ? attemptsAt(asking.place) : own;
  const asked = asking?.asked ?? "";
  const last = useAttempt(attempts);
  const isSame = last?.asked === asked;
  const { mutate } = useMutation({
    mutationFn: () => attempt(attempts, asked, null, (_, key) => send(key)),
    onSettled: () => {
      for (const queryKey of reads) void client.invalidateQueries({ queryKey });
    },
    onSuccess: onDone,
  });
  return {
    mutate: () => {
      if (attempts.get()?.state !== "pending") mutate();
    },
    isPending: last?.state === "pending",
    error: isSame ? last.error : null,
    isUnknown: isSame && last.state === "unknown",
  };
}
