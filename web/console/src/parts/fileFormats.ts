/** What a file of a table is written as: text for spreadsheets, or typed columns for programs. */
export type FileFormat = "csv" | "parquet";

export const FILE_FORMATS = [
  { value: "csv", label: "CSV" },
  { value: "parquet", label: "Parquet" },
] as const satisfies readonly { value: FileFormat; label: string }[];
