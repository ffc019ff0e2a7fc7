/** The time zone: what a person has chosen for this browser, else that of the account. (The theme is kept by Mantine.) */
import { createStore, keep, readKept, useStore } from "./store.ts";
import { isZone, LOCAL_ZONE } from "./time.ts";

const ZONE_KEY = "openspot.zone";
const ACCOUNT_ZONE_KEY = "openspot.zone.account";

function keptZone(key: string): string | null {
  const zone = readKept(() => localStorage, key);
  return zone !== null && isZone(zone) ? zone : null;
}

const zoneStore = createStore(keptZone(ZONE_KEY));
const accountZoneStore = createStore(keptZone(ACCOUNT_ZONE_KEY));

/** The zone that times are shown in: "local", "UTC", or a name such as "Europe/Berlin". */
export function useZone(): string {
  const chosen = useStore(zoneStore);
  const ofAccount = useStore(accountZoneStore);
  return chosen ?? ofAccount ?? LOCAL_ZONE;
}

/** The zone that was chosen for this browser, or null: then times are shown in the account's. */
export function useChosenZone(): string | null {
  return useStore(zoneStore);
}

/** The zone of the account, or null where it has none. */
export function useAccountZone(): string | null {
  return useStore(accountZoneStore);
}

/** Show times in another zone, from now on and after a reload; null leaves it to the account. */
export function setZone(zone: string | null): void {
  if (zone !== null && !isZone(zone)) return;
  zoneStore.set(zone);
  keep(() => localStorage, ZONE_KEY, zone);
}

/** What the account says, kept so that a reload begins with it. A zone that this browser does not know is none. */
export function setAccountZone(zone: string | null): void {
  const known = zone !== null && isZone(zone) ? zone : null;
  accountZoneStore.set(known);
  keep(() => localStorage, ACCOUNT_ZONE_KEY, known);
}
