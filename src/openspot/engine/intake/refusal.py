"""Why a request did not become a command."""

from openspot.domain.result_code import ResultCode


class IntakeRefusal(Exception):  # noqa: N818 - a refusal is an ordinary outcome
    """The request was refused: no command was submitted."""

    def __init__(self, code: ResultCode, message: str = "") -> None:
        super().__init__(message or code.name)
        self.code = code
