"""The matching engine describes itself."""

from openspot.engine.settings import EngineSettings
from openspot.kit.description import Address, Descriptor, FirstStartNote, Listener, Process
from openspot.kit.secrets_file import FILE_NAME

DESCRIPTOR = Descriptor(
    name="engine",
    title="Matching engine",
    settings=EngineSettings,
    processes=(
        Process(
            name="engine",
            title="Matching engine",
            module="openspot.engine.service",
            host="engine_host",
            listeners=(
                Listener("engine_http_port", "HTTP and /ws/events"),
                Listener(
                    "engine_grpc_port",
                    "gRPC",
                    danger="Whoever overhears it learns the credential that moves money: it is not encrypted.",
                ),
                Listener(
                    "engine_frames_port",
                    "calls of the platform's own services",
                    danger="Whoever overhears it learns the credential that moves money: it is not encrypted.",
                ),
            ),
            secrets_checked=("admin_token_secret", "engine_api_secret", "admin_password"),
        ),
    ),
    addresses=(
        Address("Matching engine HTTP", lambda settings: settings.engine_url),
        Address("Matching engine gRPC", lambda settings: settings.engine_grpc_address),
    ),
    http="openspot.engine.documentation:documented",
    first_start_notes=(
        FirstStartNote(
            "admin_password",
            lambda settings: (
                f"engine administrator [b]{settings.admin_id}[/b], password [b]{settings.admin_password}[/b] "
                f"(shown this once; kept in {FILE_NAME})"
            ),
        ),
    ),
)
