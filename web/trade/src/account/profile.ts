/** The profile of the user. Apart from the other queries of the account: each page follows it. */
import { type Exchange, returned } from "../api/client.ts";

export const PROFILE = ["profile"] as const;

export function readProfile({ rest }: Exchange, signal: AbortSignal) {
  return returned(rest.GET("/api/v1/users/me/profile", { signal }));
}
