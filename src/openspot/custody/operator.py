"""The commands `openspot custody …`: they write an operator's decisions to the platform's database.

The running custody service reads the decisions there and does the next steps.
"""

import getpass
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

import aiohttp

from openspot.coin_networks.store import networks
from openspot.custody import withdrawal_store as store
from openspot.custody.chain import SimulatedChain
from openspot.custody.deciding import Decider
from openspot.custody.deposits import ChainDeposit, ChainDepositError, Deposits
from openspot.custody.settings import CustodySettings
from openspot.custody.wallet_policy import RULES
from openspot.custody.withdrawal_states import Status
from openspot.custody.withdrawal_store import Withdrawal
from openspot.custody.withdrawals import WithdrawalError, Withdrawals
from openspot.domain.market import AssetScale, load_markets
from openspot.domain.networks import load_networks
from openspot.engine_client.errors import EngineError
from openspot.engine_client.live_markets import LiveMarkets
from openspot.kit.database import Pool, pool_of_command, text_of
from openspot.kit.hash_chain import FIRST_HASH, is_next

LIST_MAX = 200


class OperatorError(Exception):
    """A command could not be carried out; nothing was changed. The message says why."""


@dataclass(frozen=True, slots=True)
class Operator:
    """Carries out the commands. Every method raises OperatorError."""

    pool: Pool
    settings: CustodySettings

    async def listed(self) -> list[str]:
        """One line for each withdrawal that is not settled. It says what the withdrawal waits for."""
        lines = []
        for withdrawal in await store.list_open(self.pool, LIST_MAX):
            async with self.pool.acquire() as connection:
                approvers = await store.approvers(connection, withdrawal.withdrawal_id)
                signers = sorted(await store.signatures(connection, withdrawal.withdrawal_id))
            lines.append(_line(withdrawal, approvers, signers))
        return lines

    async def approve(self, withdrawal_id: str, approver: str, reason: str) -> str:
        """Approve a withdrawal in the name of `approver`."""
        approved = await self._decisions().approve(withdrawal_id, approver, _decider(reason))
        return _done(approved, f"approved by {approver}")

    async def sign(self, withdrawal_id: str, signer: str, reason: str) -> str:
        """Sign a withdrawal with the key of one of its wallet's signers."""
        seed = self.settings.custody_seed.encode()
        if not seed:
            raise OperatorError("OPENSPOT_CUSTODY_SEED is not known here")
        signed = await self._decisions().sign(withdrawal_id, signer, seed, _decider(reason))
        return _done(signed, f"signed by {signer}")

    async def reject(self, withdrawal_id: str, operator: str, reason: str) -> str:
        """Reject a withdrawal; its funds are released."""
        rejected = await self._decisions().reject(withdrawal_id, operator, _decider(reason))
        return _done(rejected, f"rejected by {operator}")

    async def deposit(self, deposit: ChainDeposit) -> str:
        """Send a deposit on a simulated chain."""
        chain = SimulatedChain(self.pool, self.settings.custody_block_s)
        assets = await self._assets()
        listed = self.settings.follows_listings
        deposits = Deposits(
            self.pool,
            chain,
            await networks(self.pool, load_networks(), assets) if listed else load_networks(),
            assets,
            time.time_ns,
            confirmations_required=self.settings.custody_confirmations,
        )
        user_id = await deposits.include(deposit)
        return f"sent {deposit.amount} {deposit.asset} to {user_id} on {deposit.network} ({deposit.tx_hash})"

    async def verified_audit(self) -> int:
        """Check the audit chain, and return how many entries it has."""
        count, newest = 0, FIRST_HASH
        async with store.transaction(self.pool) as connection:
            async for previous, own, content in store.audit_entries(connection):
                count += 1
                if not is_next(newest, previous, own, content):
                    raise OperatorError(f"entry {count} of the audit trail is changed, or one before it is missing")
                newest = own
        return count

    async def _assets(self) -> Mapping[str, AssetScale]:
        if not self.settings.follows_listings:
            return load_markets().assets
        live = LiveMarkets(self.settings.engine_url, load_markets())
        try:
            async with aiohttp.ClientSession() as session:
                await live.load(session)
        except EngineError as error:
            raise OperatorError(f"the engine does not say which coins are listed: {error}") from error
        return live.configuration.assets

    def _decisions(self) -> Withdrawals:
        wait = self.settings.operator_roles_wait
        return Withdrawals(self.pool, load_networks(), dict, {}, time.time_ns, roles_wait=wait)


@asynccontextmanager
async def operator(settings: CustodySettings) -> AsyncIterator[Operator]:
    """The commands on the running platform's database. Raises OperatorError."""
    async with pool_of_command(settings, OperatorError, "; look with `openspot custody list`") as pool:
        try:
            yield Operator(pool, settings)
        except (WithdrawalError, ChainDepositError) as error:
            raise OperatorError(str(error)) from error


def _decider(reason: str) -> Decider:
    """Who runs the command. The name after `--as` is not authenticated, so the operators' trail names the account."""
    return Decider(f"shell:{getpass.getuser()}", reason)


def _line(withdrawal: Withdrawal, approvers: list[str], signers: list[str]) -> str:
    cents = withdrawal.value_cents
    waits = ""
    if withdrawal.status is Status.PENDING_APPROVAL:
        waits = f"approvals {len(approvers)} of {withdrawal.approvals_needed} ({', '.join(approvers) or 'nobody'})"
    elif withdrawal.status is Status.SIGNING:
        waits = f"signatures {len(signers)} of {RULES[withdrawal.wallet].signatures} ({', '.join(signers) or 'nobody'})"
    elif withdrawal.status is Status.CONFIRMING:
        waits = f"confirmations {withdrawal.confirmations} of {withdrawal.required_confirmations}"
    text = (
        f"{withdrawal.withdrawal_id}  {withdrawal.wallet:8} {text_of(withdrawal.amount)} {withdrawal.asset} "
        f"({cents // 100:,}.{cents % 100:02d} USD) of {withdrawal.user_id} to {withdrawal.address} "
        f"on {withdrawal.network}: {withdrawal.status}"
    )
    return f"{text}, {waits}" if waits else text


def _done(withdrawal: Withdrawal, what: str) -> str:
    return f"{withdrawal.withdrawal_id} {what}"
