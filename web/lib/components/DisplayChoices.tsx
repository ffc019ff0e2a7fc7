import { SegmentedControl, Select, Stack, useMantineColorScheme } from "@mantine/core";
import { useMemo } from "react";
import { t } from "../language.ts";
import { LANGUAGES, pageLocale, useLanguage } from "../language.ts";
import { chooseLanguage, offersLanguages } from "../languageChoice.ts";
import { FIGURES, setFigures, setZone, useAccountZone, useChosenZone, useFigures } from "../preferences.ts";
import { type Separators, separatorsOf } from "../separators.ts";
import { allZones, LOCAL_ZONE, localZone } from "../time.ts";
import classes from "./DisplayChoices.module.css";

const THEMES = [
  {
    value: "light",
    get label() {
      return t("Light");
    },
  },
  {
    value: "dark",
    get label() {
      return t("Dark");
    },
  },
  {
    value: "auto",
    get label() {
      return t("System");
    },
  },
] as const;

/** The choice that leaves the zone to the account. */
const ACCOUNT = "account";

/** The choice that leaves the separators to the language of the page. */
const BY_LANGUAGE = "language";

/** A figure that shows separators: "1,234,567.89". */
const sample = ({ decimal, group, boundary }: Separators) =>
  `${"1234567".replace(boundary, group)}${decimal}89`;

/** Language, theme, time zone and separators of figures, to choose from. */
export default function DisplayChoices() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const chosen = useChosenZone();
  const ofAccount = useAccountZone();
  const figures = useFigures();
  const language = useLanguage();
  const zones = useMemo(
    () => [
      ...(ofAccount === null
        ? []
        : [{ value: ACCOUNT, label: t("Your profile ({ofAccount})", { ofAccount }) }]),
      { value: LOCAL_ZONE, label: t("This computer ({localZone})", { localZone: localZone() }) },
      ...allZones().map((name) => ({ value: name, label: name })),
    ],
    [ofAccount],
  );
  return (
    <Stack gap="sm" w={260}>
      {offersLanguages() && (
        <Select
          label={t("Language")}
          data={Object.entries(LANGUAGES).map(([value, label]) => ({ value, label }))}
          value={language}
          allowDeselect={false}
          comboboxProps={{ withinPortal: false }}
          onChange={(value) => void chooseLanguage(value)}
        />
      )}
      <div role="group" aria-label={t("Theme")}>
        <span className={classes.label} aria-hidden>
          {t("Theme")}
        </span>
        <SegmentedControl
          fullWidth
          size="xs"
          aria-label={t("Theme")}
          data={THEMES.map((choice) => ({ ...choice }))}
          value={colorScheme}
          onChange={(value) => setColorScheme(value)}
        />
      </div>
      <Select
        label={t("Time zone")}
        description={t("The pointer on a time shows UTC.")}
        searchable
        nothingFoundMessage={t("No zone of that name")}
        limit={60}
        data={zones}
        value={chosen ?? (ofAccount === null ? LOCAL_ZONE : ACCOUNT)}
        comboboxProps={{ withinPortal: false }}
        onChange={(value) => value !== null && setZone(value === ACCOUNT ? null : value)}
      />
      <Select
        label={t("Figures")}
        description={t("Fields take a point too. Files and exact values have it always.")}
        data={[
          {
            value: BY_LANGUAGE,
            label: t("By language ({sample})", { sample: sample(separatorsOf(pageLocale())) }),
          },
          ...FIGURES.map((locale) => ({ value: locale, label: sample(separatorsOf(locale)) })),
        ]}
        value={figures ?? BY_LANGUAGE}
        comboboxProps={{ withinPortal: false }}
        onChange={(value) => value !== null && setFigures(value === BY_LANGUAGE ? null : value)}
      />
    </Stack>
  );
}
