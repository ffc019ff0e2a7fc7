"""The guides of the money modules and of API keys, pasted as they stand into a shell beside a running platform."""

import asyncio
import os
import re
from pathlib import Path

import pytest

from openspot.up.child_platform import ChildPlatform
from tests.support.money_user import assert_every_book_agrees, money_user
from tests.support.operator_prices import set_operator_price
from tests.support.waiting import stretched

pytestmark = pytest.mark.proof

ROOT = Path(__file__).resolve().parents[2]
PASTE_S_MAX = stretched(240)
# curl ends with success whatever the status is; here a refused request must end the script.
PRELUDE = 'curl() { command curl --fail-with-body "$@"; }\n'


async def pasted(platform: ChildPlatform, folder: Path, guide: str, usd: str = "") -> str:
    """What a guide's lines print for a new user, who has `usd` US dollars. Fails if a line fails."""
    blocks = re.findall(r"```bash\n(.*?)```", (ROOT / "docs/guides" / guide).read_text("utf-8"), re.DOTALL)
    assert blocks, "the guide has no line to paste"
    script = PRELUDE + "".join(blocks).replace("http://127.0.0.1:3001", platform.settings.rest_url)
    script = script.replace("http://127.0.0.1:3011", platform.settings.market_data_url)
    script = script.replace("http://127.0.0.1:3060", platform.settings.subscriptions_url)
    script = script.replace("http://127.0.0.1:3008", platform.settings.positions_url)
    script = script.replace(".openspot/secrets.json", str(platform.data_dir / "secrets.json"))
    async with money_user(platform) as user:
        if usd:
            await user.credit("USD", usd)
        process = await asyncio.create_subprocess_exec(
            "bash", "-euo", "pipefail", "-c", script,
            cwd=folder, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
            env=os.environ | {
                "OPENSPOT_DATA_DIR": str(platform.data_dir), "TOKEN": str(user.client.token), "USER_ID": user.user_id,
                "PATH": f"{ROOT / '.venv/bin'}:{os.environ['PATH']}",
            },
        )  # fmt: skip
        try:
            async with asyncio.timeout(PASTE_S_MAX):
                printed = (await process.communicate())[0].decode()
        except TimeoutError:
            process.kill()
            raise
    assert process.returncode == 0, printed
    return printed


async def test_custody(platform: ChildPlatform, tmp_path: Path) -> None:
    printed = await pasted(platform, tmp_path, "custody.md")
    assert '"level":"verified"' in printed
    assert '"kind":"proof_of_address"' in printed
    assert "WARM     60 SOL (12,000.00 USD)" in printed
    assert '"status":"completed"' in printed
    assert printed.endswith("entries, unbroken\n")


async def test_conversions(platform: ChildPlatform, tmp_path: Path) -> None:
    await set_operator_price(platform, "SOL-USD", "200")
    printed = await pasted(platform, tmp_path, "conversions.md")
    assert re.search(r'"status":"completed".*"toAmount":"0.4975"', printed)


async def test_staking(platform: ChildPlatform, tmp_path: Path) -> None:
    printed = await pasted(platform, tmp_path, "staking.md")
    assert '"status":"paid"' in printed


async def test_payments(platform: ChildPlatform, tmp_path: Path) -> None:
    printed = await pasted(platform, tmp_path, "payments.md")
    assert '"credited":true' in printed
    assert printed.endswith('"repeated":false}')


async def test_margin(platform: ChildPlatform, tmp_path: Path) -> None:
    printed = await pasted(platform, tmp_path, "margin.md")
    assert re.search(r'"marginLevel":"1\.[0-9]+"', printed)
    assert '"status":"closed"' in printed
    assert printed.count('"status":"repaid"') == 3


async def test_fees_and_settings(platform: ChildPlatform, tmp_path: Path) -> None:
    printed = await pasted(platform, tmp_path, "fees-and-settings.md")
    assert '"feeQuoteId":"' in printed
    assert '"websocket":true' in printed


async def test_api_keys(platform: ChildPlatform, tmp_path: Path) -> None:
    printed = await pasted(platform, tmp_path, "api-keys.md", usd="100")
    assert '"status":"open"' in printed
    assert "-----BEGIN PUBLIC KEY-----" in printed


async def test_idempotency(platform: ChildPlatform, tmp_path: Path) -> None:
    printed = await pasted(platform, tmp_path, "idempotency.md", usd="100")
    assert printed.lower().count("idempotency-hit: true") == 1
    assert len(set(re.findall(r'"orderId":"([^"]+)"', printed))) == 1


async def test_market_data(platform: ChildPlatform, tmp_path: Path) -> None:
    printed = await pasted(platform, tmp_path, "market-data.md")
    assert '"symbol":"BTC-USD","lastPrice":' in printed
    assert '"status":"ok"' in printed
    assert "openspot_market_data_leads 1.0" in printed
    assert re.search(r"\d+ candles of \d+ trades up to event \d+: 0 differences\n", printed)


@pytest.mark.spec("A1.1-44", "A9-05")
async def test_positions(platform: ChildPlatform, tmp_path: Path) -> None:
    printed = await pasted(platform, tmp_path, "positions.md")
    assert '"status":"ok"' in printed
    assert '"status":"accepted","orderId":"guide-' in printed
    assert '"quantity":"0.5","cost":"1501","averagePrice":"3002"' in printed
    assert '"kind":"deposit","amount":"2","status":"pending","reference":"guide"' in printed
    assert re.search(r'"accepted": 3, "repeated": 0, "refusedCount": 1.*"field": "quantity"', printed)
    assert '"taxYear":2024,"asset":"BTC","disposals":1' in printed
    assert ",29990,20005,9985,2024-01-10T00:00:00.000Z,buy-1" in printed
    assert '"realisedPnl":{"today":"0","week":"0","month":"0","all":"0"}' in printed


async def test_every_book_agrees_after_the_guides(platform: ChildPlatform) -> None:
    await assert_every_book_agrees(platform)
