import { toastProblem } from "#lib/components/toasts.tsx";
import { explain } from "../api/messages.ts";

/** Say in a toast that something failed, where there is no dialog to say it in. */
export function tellFailure(error: unknown): void {
  toastProblem(explain(error));
}
