"""The button that plays a deposit, for a platform that nobody but its owner can reach.

It runs the operator's own commands: `openspot custody deposit` sends a deposit on a simulated chain to the caller's
address, `openspot deposit` credits a bank transfer. The REST edge knows the address of
the caller's session.
"""

import asyncio
import re
import secrets
from http import HTTPStatus
from pathlib import Path

import aiohttp
import msgspec
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from openspot.kit.log import get_logger
from openspot.web_server.bounded_body import BodyTooLargeError, request_body, whole_body
from openspot.web_server.custody_gateway import refusal
from openspot.web_server.operator_command import PROGRAM, end, environment_for, last_line

log = get_logger("web")

BODY_BYTES_MAX = 1024
COMMAND_TIMEOUT_S = 120.0
_ASSET = re.compile(r"[A-Z0-9]{2,10}")
_NETWORK = re.compile(r"[a-z][a-z0-9-]{1,31}")
_AMOUNT = re.compile(r"[0-9]{1,20}(\.[0-9]{1,18})?")


class DepositBody(msgspec.Struct, forbid_unknown_fields=True):
    """A deposit: an amount of an asset, over a network."""

    asset: str
    network: str
    amount: str
    is_fiat: bool = msgspec.field(name="fiat", default=False)


class SimulatedDeposits:
    """Plays deposits to the caller's own account, one at a time."""

    def __init__(
        self,
        client: aiohttp.ClientSession,
        rest_url: str,
        data_dir: Path,
        edge_timeout_s: float,
        program: tuple[str, ...] = PROGRAM,
        timeout_s: float = COMMAND_TIMEOUT_S,
    ) -> None:
        """A request to the REST edge fails after `edge_timeout_s`, a command after `timeout_s`."""
        self._client = client
        self._edge_timeout = aiohttp.ClientTimeout(total=edge_timeout_s)
        self._accounts_url = f"{rest_url}/api/v1/accounts"
        self._data_dir = data_dir
        self._program = program
        self._timeout_s = timeout_s
        self._turn = asyncio.Lock()

    async def deposit(self, request: Request) -> Response:
        """Play the deposit in the request's body. Returns 202: it is sent, and counts after its blocks."""
        try:
            body = msgspec.json.decode(await request_body(request, BODY_BYTES_MAX), type=DepositBody)
        except BodyTooLargeError as error:
            return refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, str(error))
        except msgspec.DecodeError as error:
            return refusal(HTTPStatus.BAD_REQUEST, f"the body is not valid: {error}")
        fault = _fault_of(body)
        if fault:
            return refusal(HTTPStatus.BAD_REQUEST, fault)
        found = await self._receiver(body, request.headers.get("authorization", ""))
        if isinstance(found, Response):
            return found
        if self._turn.locked():
            return refusal(HTTPStatus.CONFLICT, "another simulated deposit is under way")
        async with self._turn:
            reason = await self._run(_arguments(body, found))
        if reason:
            return refusal(HTTPStatus.BAD_REQUEST, reason)
        log.info("deposit simulated", receiver=found, asset=body.asset, amount=body.amount, network=body.network)
        return JSONResponse({"sent": True}, HTTPStatus.ACCEPTED)

    async def _receiver(self, body: DepositBody, authorization: str) -> str | Response:
        """The caller's deposit address, or the caller's id for a bank transfer.

        Returns a response with the reason if neither is known.
        """
        path, parameters, field = (
            ("deposit-fiat-info", {"currency": body.asset}, "reference")
            if body.is_fiat
            else ("deposit-address", {"asset": body.asset, "network": body.network}, "address")
        )
        try:
            async with self._client.get(
                f"{self._accounts_url}/{path}",
                params=parameters,
                headers={"authorization": authorization},
                allow_redirects=False,
                timeout=self._edge_timeout,
            ) as response:
                content = await whole_body(response)
                if response.status != HTTPStatus.OK:
                    return Response(content, response.status, media_type=response.content_type)
                return str(msgspec.json.decode(content, type=dict[str, object])[field])
        except TimeoutError:
            return refusal(HTTPStatus.GATEWAY_TIMEOUT, "the REST edge took too long; nothing was deposited")
        except (aiohttp.ClientError, OSError, ValueError, KeyError):
            return refusal(HTTPStatus.BAD_GATEWAY, "the REST edge does not respond; nothing was deposited")

    async def _run(self, arguments: tuple[str, ...]) -> str:
        """Run a command. Returns why it failed; empty after success."""
        try:
            process = await asyncio.create_subprocess_exec(
                *self._program,
                *arguments,
                env=environment_for(self._data_dir),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.PIPE,
            )
        except OSError as error:
            return f"`openspot` could not be started: {error}"
        try:
            async with asyncio.timeout(self._timeout_s):
                said = await last_line(process.stderr)
                code = await process.wait()
        except TimeoutError:
            return f"the deposit took longer than {self._timeout_s:.0f} s; look at the list of deposits"
        finally:
            await end(process)
        return "" if code == 0 else said or f"`openspot` ended with exit code {code}"


def _fault_of(body: DepositBody) -> str:
    if not _ASSET.fullmatch(body.asset):
        return "asset must be 2 to 10 capital letters or digits"
    if not _NETWORK.fullmatch(body.network):
        return "network must be a name such as bitcoin"
    if not _AMOUNT.fullmatch(body.amount) or not body.amount.strip("0."):
        return "amount must be a decimal above 0 with at most 18 digits after the point"
    return ""


def _arguments(body: DepositBody, receiver: str) -> tuple[str, ...]:
    if body.is_fiat:
        return ("deposit", "--", receiver, body.asset, body.amount)
    tx_hash = f"0x{secrets.token_hex(32)}"
    command = ("custody", "deposit", "--network", body.network, "--tx-hash", tx_hash, "--")
    return (*command, receiver, body.asset, body.amount)
