"""Money comes in over a chain and leaves on a real platform: verification, approvals, signatures, bank account."""

import pytest

from openspot.up.child_platform import ChildPlatform
from tests.support.money_user import MoneyUser, assert_every_book_agrees, money_user, openspot

REASON = "as the owner asked"
OUTSIDE = "So11111111111111111111111111111111111111112"
BANK = {"label": "Bank", "asset": "USD", "network": "wire", "address": "021000021:123456789"}


async def withdraw(user: MoneyUser, address_id: str, amount: str) -> str:
    body = {"asset": "SOL", "network": "solana", "amount": amount, "addressId": address_id}
    return str((await user("POST", "/accounts/withdraw/crypto", body, status=201))["id"])


@pytest.mark.spec("A1.5-01", "A1.5-03", "A1.5-09", "A6.2-05", "A6.2-06")
@pytest.mark.spec("B4.1-15", "B4.1-17", "B4.1-19", "B4.1-20", "A8-28", "A8-39")
async def test_money_comes_in_and_leaves_by_chain_and_by_bank(platform: ChildPlatform) -> None:
    async with money_user(platform) as user:
        await user.verify()
        target = await user("GET", "/accounts/deposit-address?asset=SOL&network=solana")
        sent = await openspot(platform, "custody", "deposit", target["address"], "SOL", "1000", "--network", "solana")
        assert sent.startswith(f"sent 1000 SOL to {user.user_id} on solana")
        await user.has("SOL", "1000")
        saved = {"label": "Wallet", "asset": "SOL", "network": "solana", "address": OUTSIDE}
        address_id = (await user("POST", "/users/me/withdrawal-addresses", saved, status=201))["id"]

        small = await withdraw(user, address_id, "2")
        large, cancelled, rejected = [await withdraw(user, address_id, "250") for _ in range(3)]
        listed = await openspot(platform, "custody", "list")
        assert all(f"{one}  WARM" in listed for one in (large, cancelled, rejected))
        assert (await user("DELETE", f"/accounts/withdrawals/{cancelled}"))["status"] == "cancelled"
        await openspot(platform, "custody", "reject", rejected, "--as", "olivia", "--reason", "not explained")
        for approver in ("olivia", "peter"):
            await openspot(platform, "custody", "approve", large, "--as", approver, "--reason", REASON)
        await user.shows(f"/accounts/withdrawals/{large}", status="signing")
        for signer in ("warm-1", "warm-2", "warm-4"):
            await openspot(platform, "custody", "sign", large, "--signer", signer, "--reason", REASON)
        for withdrawal_id in (small, large):
            await user.shows(f"/accounts/withdrawals/{withdrawal_id}", status="completed")
        await user.shows(f"/accounts/withdrawals/{rejected}", status="rejected", reason="not explained")
        await user.has("SOL", "748")

        await user.credit("USD", "100")
        bank = (await user("POST", "/users/me/withdrawal-addresses", BANK, status=201))["id"]
        body = {"currency": "USD", "amount": "60.50", "bankAccountId": bank}
        fiat = (await user("POST", "/accounts/withdraw/fiat", body, status=201))["id"]
        await user.shows(f"/accounts/withdrawals/{fiat}", status="completed", fee="25", netAmount="35.5")
        await user.has("USD", "39.5")

        # The ledger follows the engine: reconcile waits until it has.
        await assert_every_book_agrees(platform)
        history = await user("GET", "/accounts/portfolio-history?interval=1h")
        held = {row["asset"]: row["balance"] for row in history[-1]["holdings"]}
        assert held == {"SOL": "748", "USD": "39.5"}
        kinds = [entry["entryType"] for entry in await user("GET", "/accounts/transactions")]
        assert sorted(kinds) == ["deposit", "deposit", "withdrawal", "withdrawal", "withdrawal"]
    assert (await openspot(platform, "custody", "audit")).endswith("entries, unbroken\n")
