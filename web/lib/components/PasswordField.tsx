import { PasswordInput, type PasswordInputProps } from "@mantine/core";
import { t } from "../language.ts";

/** A field for a password, whose button to show it can be reached by keyboard: Mantine's own cannot. */
export function PasswordField(props: PasswordInputProps) {
  const button = { "aria-label": t("Show or hide what was typed"), tabIndex: 0 };
  return <PasswordInput visibilityToggleButtonProps={button} {...props} />;
}
