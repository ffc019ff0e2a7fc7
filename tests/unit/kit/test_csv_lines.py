"""Lines of CSV files: what is quoted, and what a spreadsheet must not compute."""

import pytest

from openspot.kit.csv_lines import csv_line


@pytest.mark.parametrize(
    ("cells", "line"),
    [
        (["a", None, ""], "a,,\r\n"),
        (['say "x"', "a,b", "two\nlines"], '"say ""x""","a,b","two\nlines"\r\n'),
        (["=1+1", "+x", "@x", "\tx", "＝1"], "'=1+1,'+x,'@x,'\tx,'＝1\r\n"),
        (["-1.50", "-1-1", "12", "=1,2"], "-1.50,'-1-1,12,\"'=1,2\"\r\n"),
        (['=HYPERLINK("x","y")'], '"\'=HYPERLINK(""x"",""y"")"\r\n'),
    ],
)
def test_a_line_is_quoted_and_computes_nothing(cells: list[str | None], line: str) -> None:
    assert csv_line(cells) == line
