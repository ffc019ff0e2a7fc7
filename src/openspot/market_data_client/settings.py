"""Settings that the processes share which hold prices of orders to a band."""

from typing import Literal

from pydantic import Field

from openspot.kit.settings import Settings


class PriceBandSettings(Settings):
    """What the order router holds prices to, and the REST edge publishes."""

    price_band: Literal["last_trade", "fair_price"] = Field(
        default="last_trade",
        description="What price bands and the slippage of market orders are centred on; `openspot up --demo` takes "
        "fair_price",
    )

    @property
    def follows_fair_price(self) -> bool:
        """Whether bands are centred on fair prices."""
        return self.price_band == "fair_price"
