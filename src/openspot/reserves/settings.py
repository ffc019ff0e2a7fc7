"""Settings of proofs of reserves."""

from pydantic import Field

from openspot.engine_client.settings import EngineConnectionSettings


class ReservesSettings(EngineConnectionSettings):
    """How to reach the engine, and how many proofs are kept."""

    reserves_kept: int = Field(
        default=12,
        ge=1,
        le=1000,
        description="Proofs of reserves that are kept; `openspot reserves prove` deletes what is older",
    )
