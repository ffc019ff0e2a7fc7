"""An administrator of a running engine, over each transport."""

from pathlib import Path

import pytest

from openspot.kit.settings import Settings
from tests.support.admin_client import AdminClient, Transport
from tests.support.engine_client import EngineClient, engine_settings


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings of the engine, including the password of the first administrator."""
    return engine_settings(tmp_path, admin_id="admin", admin_password="first-password")


@pytest.fixture(params=["grpc", "connect"])
def transport(request: pytest.FixtureRequest) -> Transport:
    """Run each test over both transports."""
    chosen: Transport = request.param
    return chosen


@pytest.fixture
def anybody(engine: EngineClient, transport: Transport) -> AdminClient:
    """A client that is not logged in."""
    return AdminClient(engine, transport)


@pytest.fixture
async def admin(anybody: AdminClient) -> AdminClient:
    """A client that is logged in as the first administrator."""
    return await anybody.login()
