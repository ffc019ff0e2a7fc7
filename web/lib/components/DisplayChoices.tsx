import { SegmentedControl, Select, Stack, useMantineColorScheme } from "@mantine/core";
import { useMemo } from "react";
import { setZone, useAccountZone, useChosenZone } from "../preferences.ts";
import { allZones, LOCAL_ZONE, localZone } from "../time.ts";
import classes from "./DisplayChoices.module.css";

const THEMES = [
  { value: "light", label: "Light" },
  { value: "dark", label: "Dark" },
  { value: "auto", label: "System" },
] as const;

/** The choice that leaves the zone to the account. */
const ACCOUNT = "account";

/** Theme and time zone, to choose from. */
export default function DisplayChoices() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const chosen = useChosenZone();
  const ofAccount = useAccountZone();
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
    </Stack>
  );
}
