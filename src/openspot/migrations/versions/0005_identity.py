"""Second factor, sessions with their origin, activity log, profile, check-ins, mail, deleted accounts."""

from alembic import op

revision = "0005"
down_revision = "0003"
branch_labels = None
depends_on = None

STATEMENTS = (
    "ALTER TABLE users ADD COLUMN display_name text",
    "ALTER TABLE users ADD COLUMN language text",
    "ALTER TABLE users ADD COLUMN time_zone text",
    "ALTER TABLE users ADD COLUMN anti_phishing_code text",
    # Revoked tokens outlive their user until they expire, so that a process that starts later refuses the sessions.
    "ALTER TABLE refresh_tokens DROP CONSTRAINT refresh_tokens_user_id_fkey",
    """
    CREATE TABLE user_sessions (
        session_id text PRIMARY KEY,
        user_id text NOT NULL REFERENCES users (user_id) ON DELETE CASCADE,
        address text NOT NULL,
        user_agent text NOT NULL,
        created_at timestamptz NOT NULL
    )
    """,
    "CREATE INDEX user_sessions_user ON user_sessions (user_id)",
    """
    CREATE TABLE user_activity (
        activity_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        user_id text NOT NULL REFERENCES users (user_id) ON DELETE CASCADE,
        kind text NOT NULL,
        address text NOT NULL,
        user_agent text NOT NULL,
        created_at timestamptz NOT NULL
    )
    """,
    "CREATE INDEX user_activity_user ON user_activity (user_id, activity_id DESC)",
    # `sealed_secret` is encrypted with a key that is not in the database; `last_step` is the last TOTP step used.
    """
    CREATE TABLE user_mfa (
        user_id text PRIMARY KEY REFERENCES users (user_id) ON DELETE CASCADE,
        sealed_secret bytea NOT NULL,
        enabled_at timestamptz,
        last_step bigint NOT NULL DEFAULT 0
    )
    """,
    """
    CREATE TABLE user_recovery_codes (
        user_id text NOT NULL REFERENCES user_mfa (user_id) ON DELETE CASCADE,
        code_hash bytea NOT NULL,
        used_at timestamptz,
        PRIMARY KEY (user_id, code_hash)
    )
    """,
    """
    CREATE TABLE mfa_challenges (
        token_hash bytea PRIMARY KEY,
        user_id text NOT NULL REFERENCES users (user_id) ON DELETE CASCADE,
        attempts integer NOT NULL DEFAULT 0,
        expires_at timestamptz NOT NULL
    )
    """,
    "CREATE INDEX mfa_challenges_user ON mfa_challenges (user_id)",
    """
    CREATE TABLE mail_tokens (
        user_id text NOT NULL REFERENCES users (user_id) ON DELETE CASCADE,
        kind text NOT NULL,
        token_hash bytea NOT NULL UNIQUE,
        created_at timestamptz NOT NULL,
        expires_at timestamptz NOT NULL,
        PRIMARY KEY (user_id, kind)
    )
    """,
    # No reference to users: a mail may be for an address that nobody has, or whose user was just deleted.
    """
    CREATE TABLE mail_outbox (
        mail_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        kind text NOT NULL,
        email text NOT NULL,
        detail text NOT NULL,
        attempts integer NOT NULL DEFAULT 0,
        created_at timestamptz NOT NULL,
        next_at timestamptz NOT NULL,
        failed_at timestamptz
    )
    """,
    """
    CREATE TABLE check_ins (
        user_id text PRIMARY KEY REFERENCES users (user_id) ON DELETE CASCADE,
        day date NOT NULL,
        streak integer NOT NULL,
        total integer NOT NULL
    )
    """,
    "CREATE TABLE deleted_users (user_id text PRIMARY KEY, deleted_at timestamptz NOT NULL)",
    "CREATE INDEX mail_outbox_due ON mail_outbox (next_at) WHERE failed_at IS NULL",
)


def upgrade() -> None:
    """Add the columns and create the tables."""
    for statement in STATEMENTS:
        op.execute(statement)
