import { StatusPill } from "#lib/components/StatusPill.tsx";
import { useZone } from "#lib/preferences.ts";
import { formatClock } from "#lib/time.ts";
import { useConnection } from "../engine/connection.ts";
import { useEngine } from "../engine/engine.ts";

/** Whether the engine responds, in a word. */
export function ConnectionState() {
  const { isReachable, respondedAt } = useConnection();
  const { url } = useEngine();
  const zone = useZone();
  if (isReachable) return <StatusPill tone="positive" word="Connected" meaning={`Engine at ${url}`} />;
  const since = respondedAt === 0 ? "" : `, last response at ${formatClock(respondedAt, zone)}`;
  return <StatusPill tone="negative" word="No connection" meaning={`Engine at ${url}${since}`} />;
}
