"""API keys, responses to repeat, and trades by time for candles."""

from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

STATEMENTS = (
    # A revoked key keeps its row, without anything to check a signature by.
    """
    CREATE TABLE api_keys (
        key_id text PRIMARY KEY,
        user_id text NOT NULL REFERENCES users (user_id) ON DELETE CASCADE,
        name text NOT NULL,
        scopes text[] NOT NULL CHECK (scopes <@ ARRAY['read', 'trade', 'cancel', 'withdraw'] AND scopes <> '{}'),
        networks text[] NOT NULL,
        algorithm text NOT NULL CHECK (algorithm IN ('hmac-sha256', 'ed25519')),
        sealed_secret bytea,
        public_key bytea,
        version integer NOT NULL,
        created_at timestamptz NOT NULL,
        rotated_at timestamptz,
        last_used_at timestamptz,
        revoked_at timestamptz,
        CHECK ((sealed_secret IS NOT NULL) = (algorithm = 'hmac-sha256' AND revoked_at IS NULL)),
        CHECK ((public_key IS NOT NULL) = (algorithm = 'ed25519' AND revoked_at IS NULL)),
        CHECK (networks <> '{}' OR NOT 'withdraw' = ANY(scopes))
    )
    """,
    "CREATE INDEX api_keys_user ON api_keys (user_id, created_at DESC)",
    # `operation_id` is the intent: what the request is done under. Without a status the request still runs, or nobody
    # knows how it ended.
    """
    CREATE TABLE idempotency_keys (
        user_id text NOT NULL,
        key text NOT NULL,
        request_hash bytea NOT NULL,
        operation_id text NOT NULL,
        method text NOT NULL,
        path text NOT NULL,
        claimed_until timestamptz NOT NULL,
        status integer,
        headers text,
        body bytea,
        expires_at timestamptz NOT NULL,
        PRIMARY KEY (user_id, key)
    )
    """,
    "CREATE INDEX idempotency_keys_expiry ON idempotency_keys (expires_at)",
    "CREATE INDEX trades_of_symbol_by_time ON trades (symbol, executed_at)",
)


def upgrade() -> None:
    """Create the tables and the index."""
    for statement in STATEMENTS:
        op.execute(statement)
