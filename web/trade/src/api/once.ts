/** Requests that must not be carried out twice. */
import { type QueryKey, useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { attemptKey } from "./client.ts";
import { isOutcomeUnknown } from "./errors.ts";

interface OnceOptions<Data> {
  /** Query keys that are read again afterwards, after success and after failure. */
  reads: readonly QueryKey[];
  onDone: (data: Data) => void;
}

/** Sends a request with a key. While the outcome is unknown the key stays, so a new try is carried out once. */
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
