"""The parameters of operators' routes that name a user."""

from typing import Annotated

from fastapi import Path, Query

_PATTERN = r"^[A-Za-z0-9_:-]{1,64}$"

UserPath = Annotated[str, Path(alias="userId", pattern=_PATTERN, description="Id of the user")]
UserQuery = Annotated[str | None, Query(alias="userId", pattern=_PATTERN, description="Only those of this user")]
