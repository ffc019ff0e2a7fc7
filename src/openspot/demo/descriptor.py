"""The demo market describes itself."""

from openspot.contracts import subjects
from openspot.demo.settings import DemoSettings
from openspot.kit.description import Address, BusAccess, Descriptor, Listener, Process

DESCRIPTOR = Descriptor(
    name="demo",
    title="Demo market",
    settings=DemoSettings,
    processes=(
        Process(
            name="demo",
            title="Demo market",
            module="openspot.demo.service",
            host="demo_host",
            listeners=(Listener("demo_port", "health and metrics"),),
            after=("rest-edge",),
            uses=("ledger", "ledger-worker", "market-data", "rest-edge", "router"),
            # The bots' funds come as an operator's deposit does.
            bus=BusAccess(publishes=(subjects.CUSTODY_DEPOSIT_CONFIRMED,)),
            enabled_by=("demo",),
            # /ready waits for the first quotes. The platform starts without them.
            started_path="/health/live",
        ),
    ),
    addresses=(Address("Demo market health", lambda settings: f"{settings.demo_url}/health"),),
)
