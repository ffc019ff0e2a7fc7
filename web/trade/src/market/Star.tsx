import { ActionIcon } from "@mantine/core";
import { StarFillIcon, StarIcon } from "@primer/octicons-react";
import { t } from "#lib/language.ts";
import classes from "./Star.module.css";

interface StarProps {
  symbol: string;
  isFavourite: boolean;
  /** The watchlist that it stands for; favourites without one. */
  list?: string | undefined;
  onToggle: (symbol: string) => void;
}

/** Makes a market a favourite, or one of another watchlist, or no longer. */
export function Star({ symbol, isFavourite, list, onToggle }: StarProps) {
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      size="md"
      aria-label={
        list === undefined
          ? t("{symbol} is a favourite", { symbol })
          : t("{symbol} is in the list {list}", { symbol, list })
      }
      aria-pressed={isFavourite}
      onClick={() => onToggle(symbol)}
    >
      {isFavourite ? <StarFillIcon className={classes.star} /> : <StarIcon />}
    </ActionIcon>
  );
}
