"""Bodies of links to files."""

from typing import Annotated

from pydantic import StringConstraints

from openspot.contracts.messages.message import TimeText
from openspot.http.validation import Body, ResponseBody, example

ExportPath = Annotated[str, StringConstraints(strict=True, pattern=r"^/operator/[A-Za-z0-9:_/-]{1,200}/export$")]
RawQuery = Annotated[str, StringConstraints(strict=True, pattern=r"^[!-~]{1,8000}$")]
FileName = Annotated[
    str, StringConstraints(strict=True, pattern=r"^[A-Za-z0-9_:][A-Za-z0-9_: -]{0,119}\.(csv|parquet)$")
]


class DownloadBody(Body):
    """The export that a link is for: its path below the prefix, its query as a browser would send it, and how the
    saved file is called.
    """

    model_config = example(
        {"path": "/operator/deposits/export", "query": "reason=yearly+audit&format=csv", "name": "deposits.csv"}
    )

    path: ExportPath
    query: RawQuery
    name: FileName


class DownloadResponse(ResponseBody):
    """A link: a GET of `path`, below the prefix, gives the file once, until `expiresAt`, without a header."""

    path: str
    expires_at: TimeText
