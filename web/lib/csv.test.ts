import { describe, expect, it } from "vitest";
import { csvCell, csvFile } from "./csv.ts";

describe("a CSV file", () => {
  it("has heads, lines that end with CR and LF, and empty cells for what is missing", () => {
    expect(csvFile(["id", "amount", "note"], [["a", "1.50", null]])).toBe("id,amount,note\r\na,1.50,\r\n");
    expect(csvFile(["id"], [])).toBe("id\r\n");
  });

  it("quotes what would break a line apart", () => {
    expect(csvCell("a,b")).toBe('"a,b"');
    expect(csvCell('say "yes"')).toBe('"say ""yes"""');
    expect(csvCell("two\nlines")).toBe('"two\nlines"');
    expect(csvCell("plain text")).toBe("plain text");
  });

  it.each(["=1+1", "+1", "-", "-1+1", "@SUM(A1)", "\t=1", "＝1", "-0x10", "--1"])(
    "marks %j as text",
    (formula) => expect(csvCell(formula).replaceAll('"', "")).toBe(`'${formula}`),
  );

  it("quotes and marks a formula that has both", () => {
    expect(csvCell('=HYPERLINK("x","y")')).toBe('"\'=HYPERLINK(""x"",""y"")"');
    expect(csvCell("\r=1")).toBe('"\'\r=1"');
  });

  it.each(["0", "-0.5", "-1000", "1000000.00000001", "12345678901234567890.123456789012345678", "0.10"])(
    "leaves the number %s exactly as it is",
    (number) => expect(csvCell(number)).toBe(number),
  );
});
