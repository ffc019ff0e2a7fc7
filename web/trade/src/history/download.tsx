import { Button } from "@mantine/core";
import { DownloadIcon } from "@primer/octicons-react";
import { useMutation } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { ProblemNote, WarningNote } from "#lib/components/states.tsx";
import { TimeText } from "#lib/components/TimeText.tsx";
import { toastDone } from "#lib/components/toasts.tsx";
import { formatCount } from "#lib/counts.ts";
import { inSentence, rich, several, t } from "#lib/language.ts";
import { saveFile } from "#lib/saveFile.ts";
import { useExchange } from "../api/client.ts";
import { explain } from "../api/messages.ts";
import { fileName, type Filter } from "./filter.ts";
import classes from "./History.module.css";
import { type AnyList, FILE_BOUNDS, FILE_ENTRIES_MAX } from "./lists.ts";

interface ChosenList {
  list: AnyList;
  filter: Filter;
}

/** The file of a list and its filter: read to the end, then saved. One at a time; it ends with the page. */
export function useDownload() {
  const { rest } = useExchange();
  const [rows, setRows] = useState(0);
  const running = useRef<AbortController | null>(null);
  const download = useMutation({
    mutationFn: async ({ list, filter }: ChosenList) => {
      const controller = new AbortController();
      running.current = controller;
      setRows(0);
      const name = fileName(list.name, filter.subject, filter.fromDay, filter.toDay);
      const file = await list.file(rest, filter.wanted, setRows, controller.signal);
      if (file.rows > 0) saveFile(new Blob([file.text], { type: "text/csv;charset=utf-8" }), name);
      return { ...file, name };
    },
    onSuccess: ({ rows: count, name }) => {
      if (count > 0)
        toastDone(
          t("Downloaded"),
          several(count, "{count} row in {name}", "{count} rows in {name}", { name }),
        );
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
export function DownloadButton({ download, list, filter }: { download: Download["download"] } & ChosenList) {
  return (
    <Button
      size="xs"
      variant="default"
      leftSection={<DownloadIcon />}
      disabled={download.isPending || filter.fromFault !== null || filter.toFault !== null}
      onClick={() => download.mutate({ list, filter })}
    >
      {t("Download CSV")}
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
          several(
            rows,
            "Reading {title} for the file: {count} row so far.",
            "Reading {title} for the file: {count} rows so far.",
            { title: inSentence(variables.list.title) },
          )}
        {data?.rows === 0 && t("Nothing matches the filter, so there is no file.")}
      </div>
      {isPending && (
        <Button size="xs" variant="default" onClick={stop}>
          {t("Stop")}
        </Button>
      )}
      {error && <ProblemNote problem={explain(error)} />}
      {cutAt !== null && (
        <WarningNote>
          <p className={classes.cut}>
            {rich(
              "{strong} A file has at most {rowsMax} rows, out of at most {fileEntriesMax} entries. It reaches back to {time}. Choose that day as the last one, and download the rest.",
              {
                strong: <strong>{rich("{name} is not complete.", { name: data?.name })}</strong>,
                rowsMax: formatCount(FILE_BOUNDS.rowsMax),
                fileEntriesMax: formatCount(FILE_ENTRIES_MAX),
                time: <TimeText milliseconds={Date.parse(cutAt)} />,
              },
            )}
          </p>
        </WarningNote>
      )}
    </div>
  );
}
