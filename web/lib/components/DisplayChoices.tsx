import { SegmentedControl, Select, Stack, useMantineColorScheme } from "@mantine/core";
import { useMemo } from "react";
import {
  browserLocale,
  FIGURES,
  setFigures,
  setZone,
  useAccountZone,
  useChosenZone,
  useFigures,
} from "../preferences.ts";
import { type Separators, separatorsOf } from "../separators.ts";
import { allZones, LOCAL_ZONE, localZone } from "../time.ts";
import classes from "./DisplayChoices.module.css";

const THEMES = [
  { value: "light", label: "Light" },
  { value: "dark", label: "Dark" },
  { value: "auto", label: "System" },
] as const;

/** The choice that leaves the zone to the account. */
const ACCOUNT = "account";

/** The choice that leaves the separators to the browser. */
const BROWSER = "browser";

/** A figure that shows separators: "1,234,567.89". */
const sample = ({ decimal, group, boundary }: Separators) =>
  `${"1234567".replace(boundary, group)}${decimal}89`;

/** Theme, time zone and separators of figures, to choose from. */
export default function DisplayChoices() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const chosen = useChosenZone();
  const ofAccount = useAccountZone();
  const figures = useFigures();
  const zones = useMemo(
    () => [
      ...(ofAccount === null ? [] : [{ value: ACCOUNT, label: `Your profile (${ofAccount})` }]),
      { value: LOCAL_ZONE, label: `This computer (${localZone()})` },
      ...allZones().map((name) => ({ value: name, label: name })),
    ],
    [ofAccount],
  );
  return (
    <Stack gap="sm" w={260}>
      <div role="group" aria-label="Theme">
        <span className={classes.label} aria-hidden>
          Theme
        </span>
        <SegmentedControl
          fullWidth
          size="xs"
          aria-label="Theme"
          data={THEMES.map((choice) => ({ ...choice }))}
          value={colorScheme}
          onChange={(value) => setColorScheme(value)}
        />
      </div>
      <Select
        label="Time zone"
        description="The pointer on a time shows UTC."
        searchable
        nothingFoundMessage="No zone of that name"
        limit={60}
        data={zones}
        value={chosen ?? (ofAccount === null ? LOCAL_ZONE : ACCOUNT)}
        comboboxProps={{ withinPortal: false }}
        onChange={(value) => value !== null && setZone(value === ACCOUNT ? null : value)}
      />
      <Select
        label="Figures"
        description="Fields take a point too. Files and exact values have it always."
        data={[
          { value: BROWSER, label: `This browser (${sample(separatorsOf(browserLocale()))})` },
          ...FIGURES.map((locale) => ({ value: locale, label: sample(separatorsOf(locale)) })),
        ]}
        value={figures ?? BROWSER}
        comboboxProps={{ withinPortal: false }}
        onChange={(value) => value !== null && setFigures(value === BROWSER ? null : value)}
      />
    </Stack>
  );
}
