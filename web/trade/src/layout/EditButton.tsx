import { ActionIcon } from "@mantine/core";
import { AppsIcon } from "@primer/octicons-react";
import { memo, useEffect, useRef } from "react";
import { t } from "#lib/language.ts";

/** Begins and ends the editing of the layout, and has the focus again at its end. */
export const EditButton = memo(function EditButton({
  isEditing,
  onToggle,
}: {
  isEditing: boolean;
  onToggle: () => void;
}) {
  const button = useRef<HTMLButtonElement>(null);
  const wasEditing = useRef(false);
  useEffect(() => {
    if (wasEditing.current && !isEditing) button.current?.focus();
    wasEditing.current = isEditing;
  }, [isEditing]);
  return (
    <ActionIcon
      ref={button}
      variant={isEditing ? "light" : "default"}
      size={30}
      ml="auto"
      aria-label={t("Edit layout")}
      aria-expanded={isEditing}
      onClick={onToggle}
    >
      <AppsIcon />
    </ActionIcon>
  );
});
