"""Settings of the ledger's processes."""

from pydantic import Field

from openspot.kit.settings import Port, Settings, address_for_clients, own_host


class LedgerSettings(Settings):
    """The settings of the ledger's processes."""

    ledger_host: str = own_host("ledger")
    ledger_port: Port = Field(default=3007, description="Ledger: health and metrics")
    ledger_worker_host: str = own_host("ledger's workflow worker")
    ledger_worker_port: Port = Field(default=3017, description="Ledger's workflow worker: health and metrics")

    @property
    def ledger_url(self) -> str:
        """Address of health and metrics of the main process."""
        return f"http://{address_for_clients(self.ledger_host or self.host, self.ledger_port)}"
