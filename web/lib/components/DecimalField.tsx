import { TextInput, type TextInputProps } from "@mantine/core";

/** A field for a decimal. It keeps the text as it is typed: no rounding, no float. */
export function DecimalField({
  onValue,
  ...others
}: Omit<TextInputProps, "onChange"> & { onValue: (text: string) => void }) {
  return (
    <TextInput
      inputMode="decimal"
      autoComplete="off"
      spellCheck={false}
      maxLength={64}
      classNames={{ input: "figures" }}
      {...others}
      onChange={(event) => onValue(event.currentTarget.value)}
    />
  );
}
