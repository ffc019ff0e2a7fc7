/** Requests that must not be carried out twice. */
import { type QueryKey, useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { attemptKey } from "./client.ts";
import { isOutcomeUnknown } from "./errors.ts";

interface OnceOptions<Data> {
  /** What is read again afterwards, however it ends. */
  reads: readonly QueryKey[];
  onDone: (data: Data) => void;
}

/** Sends something under a key that stays while the outcome is unknown, so that it is done once. */
export function useOnce<Data>(send: (key: string) => Promise<Data>, { reads, onDone }: OnceOptions<Data>) {
  const client = useQueryClient();
  const [key, setKey] = useState(attemptKey);
  const sending = useMutation({
    mutationFn: () => send(key),
    onSettled: () => {
      for (const queryKey of reads) void client.invalidateQueries({ queryKey });
    },
    onSuccess: onDone,
    onError: (error) => {
      if (!isOutcomeUnknown(error)) setKey(attemptKey());
    },
  });
  return { ...sending, isUnknown: sending.error !== null && isOutcomeUnknown(sending.error) };
}
