import { ActionIcon, useComputedColorScheme } from "@mantine/core";
import { TrashIcon, XIcon } from "@primer/octicons-react";
import type { KeyboardEvent } from "react";
import { t } from "#lib/language.ts";
import { COLOURS, type Drawing, WIDTHS } from "./drawing.ts";
import classes from "./Drawings.module.css";
import { NameField } from "./NameField.tsx";
import { DRAWING_COLOURS } from "./palette.ts";
import { colourName, titleOf } from "./words.ts";

/** What can be changed of the selected drawing. */
export function SelectedBar({
  drawing,
  asksText,
  onRevise,
  onRemove,
  onClose,
}: {
  drawing: Drawing;
  /** Whether its text is to be typed at once. */
  asksText: boolean;
  onRevise: (changes: Partial<Drawing>) => void;
  onRemove: () => void;
  onClose: () => void;
}) {
  const scheme = useComputedColorScheme("light");
  const title = titleOf(drawing);
  const press = (event: KeyboardEvent) => {
    if (event.key === "Escape") onClose();
  };
  return (
    <div className={classes.selected} role="group" aria-label={title} onKeyDown={press}>
      <NameField
        drawing={drawing}
        label={drawing.kind === "text" ? t("Text") : t("Name of the drawing")}
        asks={asksText}
        onText={(text) => onRevise({ text })}
      />
      <div className={classes.choices} role="radiogroup" aria-label={t("Colour")}>
        {COLOURS.map((colour) => (
          <label key={colour} className={classes.colour} title={colourName(colour)}>
            <input
              type="radio"
              name={`colour-${drawing.id}`}
              aria-label={colourName(colour)}
              checked={drawing.colour === colour}
              onChange={() => onRevise({ colour })}
            />
            <span style={{ background: DRAWING_COLOURS[colour][scheme] }} />
          </label>
        ))}
      </div>
      <div className={classes.choices} role="radiogroup" aria-label={t("Width")}>
        {WIDTHS.map((width) => (
          <label key={width} className={classes.width}>
            <input
              type="radio"
              name={`width-${drawing.id}`}
              aria-label={String(width)}
              checked={drawing.width === width}
              onChange={() => onRevise({ width })}
            />
            <span style={{ height: width }} />
          </label>
        ))}
      </div>
      <ActionIcon
        size={28}
        variant="subtle"
        color="red"
        aria-label={t("Delete {title}", { title })}
        onClick={onRemove}
      >
        <TrashIcon />
      </ActionIcon>
      <ActionIcon size={28} variant="subtle" color="gray" aria-label={t("Done")} onClick={onClose}>
        <XIcon />
      </ActionIcon>
    </div>
  );
}
