import { ActionIcon, Button } from "@mantine/core";
import { TrashIcon } from "@primer/octicons-react";
import { t } from "#lib/language.ts";
import { useZone } from "#lib/preferences.ts";
import type { Drawing } from "./drawing.ts";
import classes from "./Drawings.module.css";
import { NameField } from "./NameField.tsx";
import { kindName, pointText, titleOf } from "./words.ts";

/** Every drawing of the market in words: to find, to name and to delete without a pointer. */
export function DrawingTable({
  drawings,
  onRevise,
  onRemove,
  onEdit,
}: {
  drawings: readonly Drawing[];
  onRevise: (drawing: Drawing, changes: Partial<Drawing>) => void;
  onRemove: (id: string) => void;
  onEdit: (id: string) => void;
}) {
  const zone = useZone();
  if (drawings.length === 0) {
    return (
      <p className={classes.none} tabIndex={-1} data-autofocus>
        {t("There is no drawing yet. Choose a tool, then click on the chart.")}
      </p>
    );
  }
  return (
    <ul className={classes.list} aria-label={t("Drawings")}>
      {drawings.map((drawing) => (
        <li key={drawing.id}>
          <p>
            {kindName(drawing.kind)}
            <span className={`figures ${classes.points ?? ""}`}>
              {drawing.points.map((point) => pointText(point, zone)).join(" – ")}
            </span>
          </p>
          <NameField
            drawing={drawing}
            label={drawing.kind === "text" ? t("Text") : t("Name of the drawing")}
            onText={(text) => onRevise(drawing, { text })}
          />
          <Button
            size="compact-xs"
            variant="default"
            aria-label={t("Edit {title}", { title: titleOf(drawing) })}
            onClick={() => onEdit(drawing.id)}
          >
            {t("Edit")}
          </Button>
          <ActionIcon
            size={24}
            variant="subtle"
            color="gray"
            aria-label={t("Delete {title}", { title: titleOf(drawing) })}
            onClick={() => onRemove(drawing.id)}
          >
            <TrashIcon />
          </ActionIcon>
        </li>
      ))}
    </ul>
  );
}
