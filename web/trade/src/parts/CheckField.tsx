import { useId } from "react";
import classes from "./CheckField.module.css";

/** A box to tick, with its meaning below. The library's own is 3 kB, which the first page of a market does without. */
export function CheckField({
  label,
  description,
  checked,
  disabled = false,
  onChecked,
}: {
  label: string;
  description: string;
  checked: boolean;
  disabled?: boolean;
  onChecked: (checked: boolean) => void;
}) {
  const id = useId();
  return (
    <div className={classes.field}>
      <input
        id={id}
        type="checkbox"
        className={classes.box}
        checked={checked}
        disabled={disabled}
        aria-describedby={`${id}-meaning`}
        onChange={({ currentTarget }) => onChecked(currentTarget.checked)}
      />
      <label htmlFor={id}>{label}</label>
      <span id={`${id}-meaning`} className={classes.meaning}>
        {description}
      </span>
    </div>
  );
}
