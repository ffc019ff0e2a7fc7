import { Button } from "@mantine/core";
import { DownloadIcon } from "@primer/octicons-react";
import { useMutation } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { ProblemNote, WarningNote } from "#lib/components/states.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import { toastDone } from "#lib/components/toasts.tsx";
import { formatCount, plural } from "#lib/counts.ts";
import { saveFile } from "#lib/saveFile.ts";
import { useExchange } from "../api/client.ts";
import { explain } from "../api/messages.ts";
import { fileName, type Filter } from "./filter.ts";
import classes from "./History.module.css";
import { type AnyList, FILE_BOUNDS, FILE_ENTRIES_MAX } from "./lists.ts";

interface Wish {
  list: AnyList;
  filter: Filter;
}

/** The file of a list and its filter: read to the end, then saved. One at a time; it ends with the page. */
export function useDownload() {
  const { rest } = useExchange();
  const [rows, setRows] = useState(0);
  const running = useRef<AbortController | null>(null);
  const download = useMutation({
    mutationFn: async ({ list, filter }: Wish) => {
      const controller = new AbortController();
      running.current = controller;
      setRows(0);
      const name = fileName(list.name, filter.subject, filter.fromDay, filter.toDay);
      const file = await list.file(rest, filter.wanted, setRows, controller.signal);
      if (file.rows > 0) saveFile(new Blob([file.text], { type: "text/csv;charset=utf-8" }), name);
      return { ...file, name };
    },
    onSuccess: ({ rows: count, name }) => {
      if (count > 0) toastDone("Downloaded", `${plural(count, "row")} in ${name}`);
    },
  });
  useEffect(() => () => running.current?.abort(), []);
  const stop = () => {
    running.current?.abort();
    download.reset();
  };
  return { download, rows, stop };
}

type Download = ReturnType<typeof useDownload>;

/** Asks for the file of what is shown. */
export function DownloadButton({ download, list, filter }: { download: Download["download"] } & Wish) {
  return (
    <Button
      size="xs"
      variant="default"
      leftSection={<DownloadIcon />}
      disabled={download.isPending || filter.fromFault !== null || filter.toFault !== null}
      onClick={() => download.mutate({ list, filter })}
    >
      Download CSV
    </Button>
  );
}

/** How a download goes, and what became of it. */
export function DownloadState({ download: { download, rows, stop } }: { download: Download }) {
  const { data, error, isPending, variables } = download;
  const cutAt = data?.cutAt ?? null;
  return (
    <div className={classes.download}>
      <div role="status" className={classes.progress}>
        {isPending &&
          `Reading ${variables.list.title.toLowerCase()} for the file: ${plural(rows, "row")} so far.`}
        {data?.rows === 0 && "Nothing matches the filter, so there is no file."}
      </div>
      {isPending && (
        <Button size="xs" variant="default" onClick={stop}>
          Stop
        </Button>
      )}
      {error && <ProblemNote problem={explain(error)} />}
      {cutAt !== null && (
        <WarningNote>
          <p className={classes.cut}>
            <strong>{data?.name} is not complete.</strong> A file has at most{" "}
            {formatCount(FILE_BOUNDS.rowsMax)} rows, out of at most {formatCount(FILE_ENTRIES_MAX)} entries.
            It reaches back to <TimeText milliseconds={Date.parse(cutAt)} />. Choose that day as the last one,
            and download the rest.
          </p>
        </WarningNote>
      )}
    </div>
  );
}
