"""Settings of the custody simulator."""

from typing import Annotated

from pydantic import Field

from openspot.engine_client.settings import EngineAddressSettings
from openspot.http.edge_settings import CustodyAddressSettings, OperatorSettings
from openspot.kit.settings import EmptyIsNone, Generated, ReferencePriceSettings, UserTokenSettings


class CustodySettings(
    EngineAddressSettings, UserTokenSettings, OperatorSettings, CustodyAddressSettings, ReferencePriceSettings
):
    """The settings of the custody simulator."""

    custody_seed: Annotated[str, Generated()] = Field(
        default="", description="Seed of deposit addresses and signers; empty: generated into the data directory"
    )
    custody_block_s: float = Field(default=1.0, gt=0, description="Seconds between two blocks of the simulated chains")
    custody_confirmations: Annotated[int | None, EmptyIsNone] = Field(
        default=None, ge=0, le=10_000, description="Blocks until a transfer counts; empty: as domain/networks.toml says"
    )
    alert_withdrawal_usd: int = Field(
        default=100_000,
        ge=0,
        le=10**12,
        description="Worth in US dollars from which a withdrawal is large: operators get an alert of it",
    )
    custody_automatic_signers: str = Field(
        default="HOT", description="Wallets, with commas, whose signers sign by themselves; those of others are people"
    )
    custody_hot_user_share: int = Field(
        default=25,
        ge=0,
        le=100,
        description="Percent of HOT's daily limit that one user may have from HOT; WARM sends what goes beyond it",
    )
