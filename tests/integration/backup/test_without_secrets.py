"""A backup whose sealing secret is lost: the rest is restored, and what was sealed opens once the secret is given."""

import asyncio
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from typer.testing import CliRunner

from openspot.cli import app
from openspot.kit.sealing import key_id_of
from openspot.kit.settings import Settings, as_part
from openspot.up.services import PlatformSettings
from tests.support.authenticator import log_in, send_code
from tests.support.backups import BackupSite
from tests.support.bus_accounts import BusAccounts
from tests.support.fixtures import platform_settings
from tests.support.mirrored_market import MirroredMarket
from tests.support.rest_client import PREFIX, RestClient, running_edge
from tests.support.sealed_user import EVE, SealedUser, operators_view

LOST, OTHER = "l" * 40, "o" * 40
MISSING = (503, "SEALING_SECRET_MISSING", "this is sealed with a secret that the exchange does not have")


def with_sealing(settings: Settings, current: str, *former: str) -> Any:
    """The settings of a platform with these sealing secrets."""
    given = {"sealing_secret": current, "sealing_secrets_former": ",".join(former)}
    return as_part(settings, PlatformSettings).model_copy(update=given)


@pytest.mark.proof
async def test_without_the_sealing_secret_all_the_rest_is_restored_and_the_secret_heals_it_later(
    market: MirroredMarket, site: BackupSite, bus_accounts: BusAccounts, tmp_path: Path
) -> None:
    async with running_edge(with_sealing(market.settings, LOST)) as edge:
        eve = await SealedUser.made(edge)
    await site.back_up(market.settings)
    restored = platform_settings(tmp_path / "restored", site.empty_database(), bus_accounts.next_url())
    environment = {
        "OPENSPOT_BACKUP_DIR": str(site.folder), "OPENSPOT_DATA_DIR": str(restored.data_dir),
        "DATABASE_URL": restored.database_url, "OPENSPOT_SEALING_SECRET": OTHER,
    }  # fmt: skip

    def restore(*options: str) -> Any:
        return CliRunner().invoke(app, ["restore", "--skip-events", "10", *options], env=environment)

    refused = await asyncio.to_thread(restore)
    assert refused.exit_code == 1
    assert (
        f"sealed with a secret that is not here, key {key_id_of(LOST)}: set OPENSPOT_SEALING_SECRET" in refused.output
    )
    assert not restored.data_dir.exists()
    done = await asyncio.to_thread(restore, "--without-secrets")
    assert done.exit_code == 0, done.output

    async with asyncpg.create_pool(restored.database_url, min_size=1, max_size=2) as pool:
        async with running_edge(with_sealing(restored, OTHER)) as edge:
            await assert_only_what_was_sealed_is_closed(edge, pool, eve)
        async with running_edge(with_sealing(restored, OTHER, LOST)) as edge:
            await eve.opens_everything(edge, pool, (OTHER, LOST))


async def assert_only_what_was_sealed_is_closed(edge: RestClient, pool: asyncpg.Pool, eve: SealedUser) -> None:
    """Password and recovery code log in; key, second factor, statement and document are refused with the reason."""
    signed = await edge("GET", "/orders", headers=eve.signer.headers("GET", f"{PREFIX}/orders"))
    assert (signed.status, signed.code) == (401, "UNAUTHENTICATED")
    code = await send_code(edge, (await log_in(edge, EVE)).body, eve.app.code())
    assert (code.status, code.code, code.message) == MISSING
    recovered = await send_code(edge, (await log_in(edge, EVE)).body, eve.app.recovery_codes[0])
    assert recovered.status == 200, recovered.body
    edge.token = recovered.body["accessToken"]
    [document] = (await edge("GET", "/kyc/documents")).body["documents"]
    assert (document["id"], document["name"]) == (eve.document, None)
    async with operators_view(edge, pool) as ada:
        for path in (f"/{eve.user_id}", f"/{eve.user_id}/documents/{eve.document}?reason=check"):
            closed = await ada("GET", f"/operator/verifications{path}")
            assert (closed.status, closed.code, closed.message) == MISSING
        [waiting] = (await ada("GET", "/operator/verifications")).body
        assert (waiting["userId"], waiting["documents"]) == (eve.user_id, 1)
        # The user states and uploads it again, and a new key of theirs works.
        decided = await ada(
            "POST", f"/operator/verifications/{eve.user_id}/decision", {"decision": "retry", "reason": "secret lost"}
        )
        assert (decided.status, decided.body["status"]) == (200, "retry")
