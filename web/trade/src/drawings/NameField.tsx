import { TextInput } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import { type Drawing, possibleText, TEXT_LENGTH_MAX } from "./drawing.ts";

/** What a text says, or what another drawing is called; kept with Enter, and when the field is left. */
export function NameField({
  drawing,
  label,
  asks = false,
  onText,
}: {
  drawing: Drawing;
  label: string;
  /** Whether it is to be typed at once. */
  asks?: boolean;
  onText: (text: string) => void;
}) {
  const [typed, setTyped] = useState(drawing.text);
  const [known, setKnown] = useState(drawing.text);
  // It was taken back, or another window has changed it.
  if (known !== drawing.text) {
    setKnown(drawing.text);
    setTyped(drawing.text);
  }
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (!asks) return;
    field.current?.focus();
    field.current?.select();
  }, [asks]);
  const commit = () => {
    const text = possibleText(typed);
    // A text that says nothing would be nothing: it stays as it was.
    const next = text === "" && drawing.kind === "text" ? drawing.text : text;
    setTyped(next);
    if (next !== drawing.text) onText(next);
  };
  return (
    <TextInput
      ref={field}
      size="xs"
      aria-label={label}
      placeholder={label}
      autoComplete="off"
      maxLength={TEXT_LENGTH_MAX}
      value={typed}
      onChange={({ currentTarget }) => setTyped(currentTarget.value)}
      onBlur={commit}
      onKeyDown={(event) => {
        if (event.key === "Enter") commit();
        else if (event.key === "Escape" && typed !== drawing.text) {
          setTyped(drawing.text);
          event.stopPropagation();
        }
      }}
    />
  );
}
