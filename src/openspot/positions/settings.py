"""Settings of the position service."""

from typing import Annotated

from pydantic import Field

from openspot.engine_client.settings import EngineConnectionSettings
from openspot.http.edge_settings import PageOriginSettings
from openspot.kit.settings import (
    EmptyIsNone,
    OrderRulesSettings,
    Port,
    UserTokenSettings,
    address_for_clients,
    own_host,
)


class PositionSettings(EngineConnectionSettings, UserTokenSettings, PageOriginSettings, OrderRulesSettings):
    """The settings of the position service."""

    positions_host: str = own_host("position service")
    positions_port: Port = Field(default=3008, description="Position service: `/api/pms`, health and metrics")
    follow_fills: Annotated[bool | None, EmptyIsNone] = Field(
        default=None,
        description="The position service follows the trades of the exchange; else it knows none of them, and no cost "
        "of what was bought. Empty: it follows under `OPENSPOT_RULES=complete`, from the platform's first day on",
    )
    position_mark_s: float = Field(
        default=10.0, ge=0.05, le=86_400, description="Time between two markings of positions to fair prices"
    )
    position_mark_age_s_max: int = Field(
        default=86_400, ge=1, description="A mark price that was not confirmed for this long is no price any more"
    )
    position_snapshot_s: float = Field(
        default=3600.0, ge=0.05, le=86_400, description="Time between two snapshots of all open positions"
    )
    position_snapshots_kept_days: int = Field(default=400, ge=1, description="How long snapshots are kept")
    accounting_currency: str = Field(
        default="USD",
        pattern=r"^[A-Z0-9]{2,10}$",
        description="Currency of FIFO costs and of risk figures. Never change it once there are FIFO transactions",
    )
    position_import_bytes_max: int = Field(
        default=2**30,
        ge=1024,
        description="Largest file of FIFO transactions; at most the bytes of four wait in the temporary folder",
    )
    position_imports_max: int = Field(default=2, ge=1, description="Imports at a time; beyond it 503")
    position_transactions_max: int = Field(
        default=1_000_000, ge=1, description="FIFO transactions that a user may record or import; fills always count"
    )
    position_transfers_pending_max: int = Field(
        default=100, ge=1, description="Transfers of one participant in the position service that are not ended"
    )
    position_transfers_day_max: int = Field(
        default=1_000, ge=1, le=100_000, description="Transfers of one participant in the position service in 24 hours"
    )
    positions_throttle_enabled: bool = Field(default=True, description="Throttle the position service")

    @property
    def may_follow_fills(self) -> bool:
        """Whether trades are followed, or would be on a new platform."""
        return self.has_complete_rules if self.follow_fills is None else self.follow_fills

    @property
    def positions_url(self) -> str:
        """Address of the position service, without the prefix."""
        return f"http://{address_for_clients(self.positions_host or self.host, self.positions_port)}"
