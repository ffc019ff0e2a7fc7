import { PasswordInput, type PasswordInputProps } from "@mantine/core";
import { t } from "../language.ts";

/** A field for a password, whose button to show it has a name and can be reached by keyboard. */
export function PasswordField(props: PasswordInputProps) {
  const button = { "aria-label": t("Show or hide what was typed") };
  return <PasswordInput visibilityToggleFocusable visibilityToggleButtonProps={button} {...props} />;
}
