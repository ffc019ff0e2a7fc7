"""Responses of the operators' routes of runs."""

from openspot.http.validation import ResponseBody


class RunResponse(ResponseBody):
    """The number of the entry in the trail that a run has."""

    entry: int
