import { TextInput, type TextInputProps } from "@mantine/core";
import { useState } from "react";
import { typedDecimal, withDecimalSign } from "../separators.ts";

interface DecimalFieldProps extends Omit<TextInputProps, "onChange" | "value"> {
  /** With a point. */
  value: string;
  /** Takes what was typed, with a point. */
  onValue: (text: string) => void;
}

/** A field for a decimal, typed with the page's decimal sign or a point. It keeps the digits: no rounding, no float. */
export function DecimalField({ value, onValue, ...others }: DecimalFieldProps) {
  const [typed, setTyped] = useState("");
  return (
    <TextInput
      inputMode="decimal"
      autoComplete="off"
      spellCheck={false}
      maxLength={64}
      classNames={{ input: "figures" }}
      {...others}
      // What somebody types stays as it is; what the page enters has the page's sign.
      value={typedDecimal(typed) === value ? typed : withDecimalSign(value)}
      onChange={({ currentTarget }) => {
        setTyped(currentTarget.value);
        onValue(typedDecimal(currentTarget.value));
      }}
    />
  );
}
