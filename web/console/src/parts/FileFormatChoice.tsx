import { SegmentedControl } from "@mantine/core";
import { FILE_FORMATS, type FileFormat } from "./fileFormats.ts";

/** Lets an operator choose what a file is written as. */
export function FileFormatChoice(props: { value: FileFormat; onChange: (format: FileFormat) => void }) {
  return (
    <>
      <SegmentedControl
        aria-label="Format of the file"
        data={[...FILE_FORMATS]}
        value={props.value}
        onChange={props.onChange}
      />
      <p>
        {props.value === "csv"
          ? "Every cell is text, and spreadsheets compute none of them."
          : "Amounts are exact decimals and times are in UTC, for programs that compute."}
      </p>
    </>
  );
}
