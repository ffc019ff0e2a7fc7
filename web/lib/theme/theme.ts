/** Mantine's theme: our colours, type and defaults of components. */
import { type CSSVariablesResolver, createTheme, type MantineColorsTuple } from "@mantine/core";
import { floating } from "./floating.ts";
import { type Colours, dark, light } from "./tokens.ts";

/** Ten shades that Mantine asks for; what shows comes from the variables below. */
const accent: MantineColorsTuple = [
  "#eef3ff",
  "#dbe5fd",
  "#b5c8f8",
  "#8fb0ff",
  "#6a91f5",
  "#4a76ea",
  "#3d68e0",
  "#2f5bd9",
  "#254bb8",
  "#1d3b92",
];

/** Fields, menus and dialogs of the dark theme take their shades from these. */
const darkShades: MantineColorsTuple = [
  dark.text,
  "#c4cad5",
  dark.dimmed,
  "#7d8798",
  dark.border,
  "#262c37",
  dark.sunken,
  dark.surface,
  "#11151b",
  dark.body,
];

export const theme = createTheme({
  colors: { accent, dark: darkShades },
  primaryColor: "accent",
  primaryShade: { light: 7, dark: 6 },
  defaultRadius: "sm",
  radius: { xs: "4px", sm: "6px", md: "10px", lg: "14px", xl: "20px" },
  spacing: { xs: "8px", sm: "12px", md: "16px", lg: "24px", xl: "32px" },
  fontFamily: '"Inter Variable", system-ui, -apple-system, "Segoe UI", Roboto, sans-serif',
  fontFamilyMonospace: "ui-monospace, SFMono-Regular, Menlo, Consolas, monospace",
  fontSizes: { xs: "12px", sm: "13px", md: "14px", lg: "16px", xl: "20px" },
  lineHeights: { xs: "1.35", sm: "1.4", md: "1.45", lg: "1.5", xl: "1.4" },
  headings: {
    fontWeight: "620",
    sizes: {
      h1: { fontSize: "22px", lineHeight: "1.25" },
      h2: { fontSize: "16px", lineHeight: "1.35" },
      h3: { fontSize: "14px", lineHeight: "1.4" },
    },
  },
  respectReducedMotion: true,
  cursorType: "pointer",
  components: {
    Portal: { defaultProps: { target: floating } },
    Button: { defaultProps: { size: "sm" } },
    TextInput: { defaultProps: { size: "sm" } },
    PasswordInput: { defaultProps: { size: "sm" } },
    Select: { defaultProps: { size: "sm", allowDeselect: false, comboboxProps: { shadow: "md" } } },
    Modal: { defaultProps: { centered: true, overlayProps: { backgroundOpacity: 0.5 } } },
    // The placeholder would be a child of role=menu that is no entry (WCAG 2.2, 1.3.1).
    Menu: { defaultProps: { shadow: "md", position: "bottom-end", withInitialFocusPlaceholder: false } },
    Tooltip: { defaultProps: { openDelay: 300, events: { hover: true, focus: true, touch: true } } },
  },
});

function variables(colours: Colours): Record<string, string> {
  const own = Object.fromEntries(
    Object.entries(colours).map(([name, value]) => [
      `--os-${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
      value as string,
    ]),
  );
  return {
    ...own,
    "--mantine-color-body": colours.body,
    "--mantine-color-text": colours.text,
    "--mantine-color-bright": colours.text,
    "--mantine-color-dimmed": colours.dimmed,
    "--mantine-color-placeholder": colours.dimmed,
    "--mantine-color-anchor": colours.accent,
    "--mantine-color-error": colours.negative,
    "--mantine-color-default": colours.surface,
    "--mantine-color-default-hover": colours.sunken,
    "--mantine-color-default-color": colours.text,
    "--mantine-color-default-border": colours.border,
    "--mantine-color-accent-filled": colours.filled,
    "--mantine-color-accent-filled-hover": colours.filledHover,
    "--mantine-color-accent-light": colours.accentSoft,
    "--mantine-color-accent-light-hover": colours.accentSoft,
    "--mantine-color-accent-light-color": colours.accent,
    "--mantine-color-accent-outline": colours.accent,
    "--mantine-color-accent-text": colours.accent,
    "--mantine-color-red-filled": colours.danger,
    "--mantine-color-red-filled-hover": colours.dangerHover,
    "--mantine-color-red-light": colours.negativeSoft,
    "--mantine-color-red-light-hover": colours.negativeSoft,
    "--mantine-color-red-light-color": colours.negative,
    "--mantine-color-red-text": colours.negative,
  };
}

export const cssVariablesResolver: CSSVariablesResolver = () => ({
  variables: {},
  light: variables(light),
  dark: variables(dark),
});
