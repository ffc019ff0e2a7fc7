import { ActionIcon } from "@mantine/core";
import { StarFillIcon, StarIcon } from "@primer/octicons-react";
import { t } from "#lib/language.ts";
import classes from "./Star.module.css";

interface StarProps {
  symbol: string;
  isFavourite: boolean;
  onToggle: (symbol: string) => void;
}

/** Makes a market a favourite, or no longer. */
export function Star({ symbol, isFavourite, onToggle }: StarProps) {
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      size="md"
      aria-label={t("{symbol} is a favourite", { symbol })}
      aria-pressed={isFavourite}
      onClick={() => onToggle(symbol)}
    >
      {isFavourite ? <StarFillIcon className={classes.star} /> : <StarIcon />}
    </ActionIcon>
  );
}
