import { InputBase, type InputBaseProps } from "@mantine/core";
import { ChevronDownIcon } from "@primer/octicons-react";

interface ChoiceFieldProps extends Pick<InputBaseProps, "label" | "description" | "size" | "w"> {
  /** Its name, where no label is seen. */
  "aria-label"?: string;
  choices: readonly { value: string; label: string }[];
  value: string;
  onChoice: (value: string) => void;
}

/** One of a few, in the browser's own list: a phone shows it in its own way, and it is 7 kB less than the library's. */
export function ChoiceField({ choices, value, onChoice, ...others }: ChoiceFieldProps) {
  return (
    <InputBase
      component="select"
      pointer
      value={value}
      rightSection={<ChevronDownIcon />}
      rightSectionPointerEvents="none"
      onChange={({ currentTarget }) => onChoice(currentTarget.value)}
      {...others}
    >
      {choices.map((choice) => (
        <option key={choice.value} value={choice.value}>
          {choice.label}
        </option>
      ))}
    </InputBase>
  );
}
