"""No secret of the platform is shown, wherever somebody wrote it."""

import time
from typing import Any

import pytest

from openspot.up.redaction import Redactor, passwords_in, secrets_of
from openspot.up.services import PlatformSettings
from tests.support.waiting import stretched

SECRETS = [
    "admin_password", "admin_token_secret", "alert_webhook_secret", "alert_webhook_url", "alerts_secret",
    "backup_s3_access_key", "backup_s3_secret_key", "custody_seed", "demo_password", "engine_api_key",
    "engine_api_secret", "jwt_secret", "kyc_webhook_secret", "nats_nkey_seed", "payment_callback_secret", "push_key",
    "sealing_secret", "sealing_secrets_former", "smtp_password", "venue_config",
]  # fmt: skip
TOKEN = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbGljZSJ9.c2lnbmF0dXJlLW9mLWl0"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("connect to postgresql://openspot:p%40ss@db/o", "connect to postgresql://openspot:***@db/o"),
        ("Authorization: Bearer abc.def", "Authorization: *** ***"),
        (f"refused {TOKEN} of alice", "refused *** of alice"),
        ('{"password": "hunter2", "user": "alice"}', '{"password": "***", "user": "alice"}'),
        ("POST /x?api_key=k-1&limit=5", "POST /x?api_key=***&limit=5"),
        ("SET password_hash = 'argon' WHERE id = 1", "SET password_hash = '***' WHERE id = 1"),
        ("the word generated-secret-value stands alone", "the word *** stands alone"),
        ("password authentication failed for user alice", "password authentication failed for user alice"),
        ("order BTC-USD filled at 250.50", "order BTC-USD filled at 250.50"),
    ],
)  # fmt: skip
def test_secrets_are_hidden_and_nothing_else(text: str, shown: str) -> None:
    assert Redactor({"generated-secret-value", "short"})(text) == shown


@pytest.mark.parametrize("text", ["_" * 16_000, "password" * 2_000, "://" * 5_000, "eyJ" * 5_000, "a_token" * 2_000])
def test_a_line_that_somebody_made_to_be_slow_is_not(text: str) -> None:
    began = time.process_time()
    Redactor({"generated-secret-value"})(text)
    assert time.process_time() - began < stretched(1)


def test_fields_named_like_a_secret_are_hidden_at_any_depth() -> None:
    given = {"order": {"refreshToken": "r", "lines": [{"cookie": "c", "price": "1"}]}, "Password": {"a": "b"}}
    hidden = {"order": {"refreshToken": "***", "lines": [{"cookie": "***", "price": "1"}]}, "Password": "***"}
    assert Redactor().values(given) == hidden


def test_every_setting_that_is_a_secret_is_known() -> None:
    kind: Any = PlatformSettings
    texts = [name for name, field in kind.model_fields.items() if field.annotation is str]
    settings = kind.model_construct(
        **{name: f"value-of-{name}" for name in texts}
        | {"database_url": "postgresql://u:of%2Ddatabase@h/d", "nats_url": "nats://u:of-bus-1@a,nats://u:of-bus-2@b"}
    )
    found = secrets_of(settings)
    several = kind.model_construct(sealing_secrets_former="first-secret,second-secret")
    assert {"first-secret", "second-secret"} <= secrets_of(several)
    assert {"of%2Ddatabase", "of-database", "of-bus-1", "of-bus-2"} <= found
    # Whoever adds a setting decides here whether it is a secret.
    assert sorted(name for name in texts if f"value-of-{name}" in found) == SECRETS


def test_addresses_that_are_none_have_no_password() -> None:
    assert passwords_in(["http://[", "nats://alone@h", "https://h"]) == set()
