"""Where the engine's clients look for it."""

import pytest

from openspot.engine.settings import EngineSettings
from openspot.engine_client.settings import EngineConnectionSettings
from openspot.up.services import DESCRIPTORS, PlatformSettings, addresses


@pytest.mark.parametrize(
    ("fields", "address"),
    [
        ({}, ("127.0.0.1", 9092)),
        ({"engine_frames_port": 7}, ("127.0.0.1", 7)),
        ({"engine_host": "0.0.0.0"}, ("127.0.0.1", 9092)),
        ({"engine_host": "::1"}, ("::1", 9092)),
        ({"given_engine_frames": "engine.example:70"}, ("engine.example", 70)),
        ({"given_engine_frames": "[fd00::1]:71"}, ("fd00::1", 71)),
    ],
)
def test_the_frames_are_where_the_engine_listens_or_where_the_setting_says(
    fields: dict[str, object], address: tuple[str, int]
) -> None:
    assert EngineConnectionSettings.model_validate(fields).engine_frames_address == address


@pytest.mark.parametrize("given", ["engine.example", ":70", "http://engine:70", "engine:70/x", "engine:ninety"])
def test_an_address_without_host_or_port_is_refused_with_the_settings_name(given: str) -> None:
    settings = EngineConnectionSettings(given_engine_frames=given)
    with pytest.raises(ValueError, match=r"OPENSPOT_ENGINE_FRAMES|[Pp]ort"):
        _ = settings.engine_frames_address


def test_grpc_is_for_programs_of_others_and_no_service_has_its_address() -> None:
    having = {
        descriptor.name
        for descriptor in DESCRIPTORS
        if any("engine_grpc" in field for field in descriptor.settings.model_fields)
    }
    assert having == {"engine"}
    assert EngineSettings(engine_host="0.0.0.0").engine_grpc_address == "127.0.0.1:9090"
    given = PlatformSettings(given_engine_grpc="engine.example:70")
    assert addresses(given)["Matching engine gRPC"] == "engine.example:70"
