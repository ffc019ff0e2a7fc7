import { Button } from "@mantine/core";
import { t } from "../language.ts";
import classes from "./ShowOlder.module.css";

interface ShowOlderProps {
  /** A list that is read page by page; TanStack Query's infinite result fits. */
  query: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => Promise<unknown> };
}

/** The footer of a list whose next page follows below; nothing where the list is complete. */
export function ShowOlder({ query }: ShowOlderProps) {
  if (!query.hasNextPage) return null;
  return (
    <div className={classes.more}>
      <Button
        size="xs"
        variant="default"
        loading={query.isFetchingNextPage}
        onClick={() => void query.fetchNextPage()}
      >
        {t("Show older")}
      </Button>
    </div>
  );
}
