import { CloseButton, TextInput } from "@mantine/core";
import { type SyntheticEvent, useRef, useState } from "react";

interface UtcTimeFieldProps {
  label: string;
  description: string;
  /** Of the form 2026-12-01T12:00, or empty. */
  value: string;
  fault?: string | undefined;
  /** Told whether the time is only half typed, too: its text is empty then, but it is not meant to be. */
  onValue: (value: string, isUnfinished: boolean) => void;
}

/** A field for a date and a time in UTC, which can be emptied. */
export function UtcTimeField({ label, description, value, fault, onValue }: UtcTimeFieldProps) {
  const field = useRef<HTMLInputElement>(null);
  const [isUnfinished, setUnfinished] = useState(false);
  const read = ({ currentTarget }: SyntheticEvent<HTMLInputElement>) => {
    const { badInput } = currentTarget.validity;
    setUnfinished(badInput);
    onValue(currentTarget.value, badInput);
  };
  return (
    <TextInput
      ref={field}
      type="datetime-local"
      // A time that a command has set may have seconds.
      step="any"
      label={label}
      description={description}
      value={value}
      error={isUnfinished ? "Complete the date and the time, or empty the field." : fault}
      onChange={read}
      // A browser tells of no change while a time is only half there.
      onKeyUp={read}
      onBlur={read}
      rightSectionPointerEvents="all"
      rightSection={
        <CloseButton
          size="sm"
          aria-label={`Empty ${label}`}
          disabled={value === "" && !isUnfinished}
          onClick={() => {
            if (field.current) field.current.value = "";
            setUnfinished(false);
            onValue("", false);
            // The button is disabled now, and the keyboard would be nowhere.
            field.current?.focus();
          }}
        />
      }
    />
  );
}
