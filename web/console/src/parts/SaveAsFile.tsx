import { Button } from "@mantine/core";
import { DownloadIcon } from "@primer/octicons-react";
import { useState } from "react";
import { saveExport } from "../operator/client.ts";
import { type Permission, useCan } from "../operator/session.ts";
import { FileFormatChoice } from "./FileFormatChoice.tsx";
import type { FileFormat } from "./fileFormats.ts";
import { ReasonDialog } from "./ReasonDialog.tsx";

interface Props {
  /** The list's path below `/operator`: "deposits". */
  path: string;
  /** The file's name, without its ending. */
  name: string;
  needs: Permission;
  /** The filters that are set, as the edge takes them. */
  given: Readonly<Record<string, string>>;
  /** What else is in the file. */
  holds?: string;
  /** What the button says, where a page has several. */
  label?: string;
}

/** The button that saves a list as a file, with a reason. */
export function SaveAsFile({
  path,
  name,
  needs,
  given,
  holds = "with the ids of users",
  label = "Save as a file",
}: Props) {
  const can = useCan();
  const [isSaving, setSaving] = useState(false);
  const [format, setFormat] = useState<FileFormat>("csv");
  return (
    <>
      <Button
        variant="default"
        leftSection={<DownloadIcon />}
        disabled={!can(needs)}
        title={can(needs) ? undefined : `This needs the permission ${needs}.`}
        onClick={() => setSaving(true)}
      >
        {label}
      </Button>
      {isSaving && (
        <ReasonDialog
          title="Save the list as a file?"
          confirm="Save the file"
          act={async (edge, reason) => {
            const parameters = new URLSearchParams({ ...given, reason, format });
            await saveExport(edge, `/operator/${path}/export`, parameters, `${name}.${format}`);
          }}
          done={() => ["The browser saves the file", `${name}.${format}`]}
          onClose={() => setSaving(false)}
        >
          <p>Everything that fits the filters is in it, {holds}. The audit trail notes the file.</p>
          <FileFormatChoice value={format} onChange={setFormat} />
        </ReasonDialog>
      )}
    </>
  );
}
