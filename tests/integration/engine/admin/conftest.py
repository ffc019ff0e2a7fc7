"""An administrator of a running engine, over each transport."""

from pathlib import Path

import pytest

from openspot.kit.settings import Settings
from tests.support.admin_client import AdminClient, Transport
from tests.support.engine_client import EngineClient, engine_settings


@pytest.fixture(autouse=True)
def _quick_logins(cheap_passwords: None) -> None:
    """Nearly every test here logs in; what a hash costs is for tests/unit/kit/test_passwords.py."""


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings of this test's engine, its first administrator's password among them."""
    return engine_settings(tmp_path, admin_id="admin", admin_password="first-password")


@pytest.fixture(params=["grpc", "connect"])
def transport(request: pytest.FixtureRequest) -> Transport:
    """Every case holds over both."""
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
