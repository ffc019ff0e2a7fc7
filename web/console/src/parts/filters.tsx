import { Button, Select, TextInput } from "@mantine/core";
import { SearchIcon, XIcon } from "@primer/octicons-react";
import { type ReactNode, useState } from "react";
import { ORDER_STATUSES } from "./badges.tsx";
import classes from "./filters.module.css";

interface FilterBarProps {
  children: ReactNode;
  /** Whether any filter is set. */
  isFiltered: boolean;
  onClear: () => void;
}

/** The filters of a list. `/` puts the keyboard into the first. */
export function FilterBar({ children, isFiltered, onClear }: FilterBarProps) {
  return (
    <div className={classes.bar} role="search" aria-label="Filters" data-filters>
      {children}
      {isFiltered && (
        <Button variant="subtle" color="gray" leftSection={<XIcon />} onClick={onClear}>
          Clear filters
        </Button>
      )}
    </div>
  );
}

interface TextFilterProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  /** The longest text, 64 by default. */
  lengthMax?: number;
}

/** A filter for an exact text; it takes effect with Enter or when the field is left. */
export function TextFilter({ label, value, onChange, lengthMax = 64 }: TextFilterProps) {
  const [draft, setDraft] = useState(value);
  const [shown, setShown] = useState(value);
  if (shown !== value) {
    // The address has changed: back, forward, or another filter's clearing.
    setShown(value);
    setDraft(value);
  }
  const apply = () => draft.trim() !== value && onChange(draft.trim());
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        apply();
      }}
    >
      <TextInput
        aria-label={label}
        placeholder={label}
        leftSection={<SearchIcon />}
        value={draft}
        spellCheck={false}
        autoCapitalize="none"
        maxLength={lengthMax}
        onChange={(event) => setDraft(event.currentTarget.value)}
        onBlur={apply}
      />
    </form>
  );
}

interface ChoiceFilterProps extends TextFilterProps {
  /** What stands for no choice: "Any symbol". */
  any: string;
  choices: readonly (string | { value: string; label: string })[];
}

/** A filter for one of several values. */
export function ChoiceFilter({ label, any, value, choices, onChange }: ChoiceFilterProps) {
  return (
    <Select
      aria-label={label}
      placeholder={any}
      data={[...choices]}
      value={value === "" ? null : value}
      clearable
      allowDeselect
      searchable
      nothingFoundMessage="Nothing of that name"
      onChange={(next) => onChange(next ?? "")}
    />
  );
}

interface DayFilterProps {
  label: string;
  /** The short word that stands in the field; the label itself by default. */
  shown?: string;
  value: string;
  onChange: (value: string) => void;
}

/** A filter for a day of UTC. The field says what it is, as an empty one shows nothing but a pattern of days. */
export function DayFilter({ label, shown = label, value, onChange }: DayFilterProps) {
  return (
    <TextInput
      type="date"
      aria-label={label}
      title={`${label}, in UTC`}
      leftSection={<span aria-hidden>{shown}</span>}
      leftSectionWidth={52}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}

export function StatusFilter({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  return (
    <ChoiceFilter
      label="Status"
      any="Any status"
      value={value}
      choices={ORDER_STATUSES}
      onChange={onChange}
    />
  );
}
