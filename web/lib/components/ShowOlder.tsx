import { Button } from "@mantine/core";
import { t } from "../language.ts";
import classes from "./ShowOlder.module.css";

interface Read {
  data?: { pages: readonly unknown[] } | undefined;
  isFetchNextPageError: boolean;
}

interface OlderPages extends Read {
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  fetchNextPage: (options: { cancelRefetch: boolean }) => Promise<Read>;
}

interface ShowOlderProps {
  /** A list that is read page by page; TanStack Query's infinite result fits. */
  query: OlderPages;
}

const ATTEMPTS = 3;

/** Reads the next page. What is read anew meanwhile, because of a push, takes its place: then it is asked for again. */
async function showOlder({ data, fetchNextPage }: OlderPages) {
  const before = data?.pages.length ?? 0;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const read = await fetchNextPage({ cancelRefetch: false });
    if (read.isFetchNextPageError || (read.data?.pages.length ?? 0) > before) return;
  }
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
        onClick={() => void showOlder(query)}
      >
        {t("Show older")}
      </Button>
    </div>
  );
}
