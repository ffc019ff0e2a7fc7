"""The hold: while its file is in the data directory, no withdrawal is approved, signed or sent.

`openspot restore` leaves it behind: withdrawals that the old platform sent after the backup are open again in the
restored rows, and would be sent a second time. `openspot custody release` removes it when the operator has compared the
open withdrawals with the chains.
"""

import json
import os
import time
from pathlib import Path

from openspot.custody.withdrawal_states import WithdrawalStep

HOLD = "withdrawals-held.json"
HELD_STEPS = frozenset({WithdrawalStep.APPROVE, WithdrawalStep.PREPARE, WithdrawalStep.SIGN, WithdrawalStep.SEND})
"""The steps that bring money nearer to leaving."""


def hold_withdrawals(data_dir: Path, reason: str) -> None:
    """Hold all withdrawals. Raises OSError."""
    path = data_dir / HOLD
    with path.open("w", encoding="utf-8") as file:
        json.dump({"reason": reason, "since": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}, file)
        file.flush()
        os.fsync(file.fileno())


def release_withdrawals(data_dir: Path) -> bool:
    """Let withdrawals go on. Returns whether they were held. Raises OSError."""
    path = data_dir / HOLD
    was_held = path.exists()
    path.unlink(missing_ok=True)
    return was_held


def hold_reason(data_dir: Path) -> str:
    """Why withdrawals are held; empty if they are not."""
    try:
        content = json.loads((data_dir / HOLD).read_text("utf-8"))
        return f"{content['reason']}, since {content['since']}"
    except FileNotFoundError:
        return ""
    except (OSError, ValueError, LookupError, TypeError):
        return "its file cannot be read"
