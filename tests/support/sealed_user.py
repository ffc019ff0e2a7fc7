"""A user who left something in every sealed column, and what shows that all of it opens."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import asyncpg

from openspot.http.operators import OperatorRole
from openspot.kit.sealing import Sealer
from openspot.rest_edge.funds.kyc.store import sealing_purpose
from tests.support.authenticator import STEP_S, Authenticator, enable_mfa, log_in, register, send_code
from tests.support.edge_operators import make_operator
from tests.support.money_user import BASIC_INFORMATION
from tests.support.rest_client import PREFIX, RestClient
from tests.support.sample_documents import pdf
from tests.support.signed_requests import Signer

EVE, ADA = "eve@example.org", "ada@example.org"
BILL = pdf("Electricity bill")


class SealedUser:
    """A user of whom every sealed column has something, and what shows that it still opens."""

    def __init__(self, user_id: str, app: Authenticator, signer: Signer, document: str) -> None:
        self.user_id = user_id
        self.app = app
        self.signer = signer
        self.document = document

    @classmethod
    async def made(cls, edge: RestClient) -> "SealedUser":
        """Have a user leave something in every sealed column."""
        user = RestClient(edge.settings)
        user_id = await register(user, EVE)
        key = await user("POST", "/api-keys", {"name": "bot", "scopes": ["read"]})
        assert (await user("POST", "/kyc/basic-info", BASIC_INFORMATION)).status == 200
        assert (await user("POST", "/kyc/start", {"level": "verified"})).status == 201
        path = "/kyc/documents?kind=proof_of_address&name=bill.pdf"
        document = await user("POST", path, raw=BILL, headers={"Content-Type": "application/pdf"})
        app = await enable_mfa(user)
        await user.close()
        return cls(user_id, app, Signer(key.body["id"], key.body["secret"]), document.body["id"])

    async def opens_everything(self, edge: RestClient, pool: asyncpg.Pool, secrets: tuple[str, ...]) -> None:
        """The key signs, the second factor's code is right, and operators see statement and document."""
        edge.token = None
        signed = await edge("GET", "/orders", headers=self.signer.headers("GET", f"{PREFIX}/orders"))
        assert signed.status == 200, signed.body
        await pool.execute("UPDATE user_mfa SET last_step = 0")
        challenge = await log_in(edge, EVE)
        assert (await send_code(edge, challenge.body, self.app.at(_step()))).status == 200
        stated = await pool.fetchval("SELECT sealed_information FROM kyc_profiles WHERE user_id = $1", self.user_id)
        assert b"Lovelace" in Sealer(*secrets).open(stated, sealing_purpose(self.user_id))
        async with operators_view(edge, pool) as ada, aiohttp.ClientSession() as session:
            path = f"/operator/verifications/{self.user_id}/documents/{self.document}?reason=check"
            url, headers = f"{edge.settings.rest_url}{PREFIX}{path}", {"Authorization": f"Bearer {ada.token}"}
            async with session.get(url, headers=headers) as response:
                assert await response.read() == BILL


@asynccontextmanager
async def operators_view(edge: RestClient, pool: asyncpg.Pool) -> AsyncIterator[RestClient]:
    """An operator of compliance, made anew."""
    ada = RestClient(edge.settings)
    await pool.execute("DELETE FROM users WHERE email = $1", ADA)
    await make_operator(ada, pool, ADA, OperatorRole.COMPLIANCE)
    yield ada
    await ada.close()


def _step() -> int:
    return int(time.time()) // STEP_S
