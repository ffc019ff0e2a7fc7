/**
 * The time zone: what a person has chosen for this browser, else that of the account. The separators of figures: what a
 * person has chosen for this browser, else those of the page's language. (The theme is kept by Mantine.)
 */
import { onLanguage, pageLocale } from "./language.ts";
import { separatorsOf, setSeparators } from "./separators.ts";
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

const FIGURES_KEY = "openspot.figures";
/** A locale for each way to write figures that can be chosen. */
export const FIGURES = ["en", "de", "fr", "de-CH", "en-IN"] as const;
export type Figures = (typeof FIGURES)[number];

const isFigures = (text: string | null): text is Figures => FIGURES.some((locale) => locale === text);

function keptFigures(): Figures | null {
  const kept = readKept(() => localStorage, FIGURES_KEY);
  return isFigures(kept) ? kept : null;
}

const figuresStore = createStore<Figures | null>(null);

/** Begin with the separators that were chosen for this browser, or with those of the page's language. */
export function startFigures(): void {
  showFigures(keptFigures());
  onLanguage(() => showFigures(keptFigures()));
}

/** Whose separators figures have: those of a locale, or null for those of the page's language. */
export function useFigures(): Figures | null {
  return useStore(figuresStore);
}

/** Show figures with other separators, from now on and after a reload; null leaves them to the page's language. */
export function setFigures(figures: string | null): void {
  if (figures !== null && !isFigures(figures)) return;
  keep(() => localStorage, FIGURES_KEY, figures);
  showFigures(figures);
}

function showFigures(figures: Figures | null): void {
  setSeparators(separatorsOf(figures ?? pageLocale()));
  figuresStore.set(figures);
}
