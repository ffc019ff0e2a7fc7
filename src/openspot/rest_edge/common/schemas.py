"""Response bodies that routes of several wings have."""

from openspot.http.validation import ResponseBody


class DoneResponse(ResponseBody):
    """It is done, or for a mail: it is queued."""

    success: bool
