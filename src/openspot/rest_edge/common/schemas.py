"""Response bodies that several wings share."""

from openspot.http.validation import ResponseBody


class DoneResponse(ResponseBody):
    """The request is done. If it sends a mail, the mail is queued."""

    success: bool
