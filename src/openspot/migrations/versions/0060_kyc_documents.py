"""Documents that users upload for their verification, sealed under a key that is not in the database."""

from alembic import op

revision = "0060"
down_revision = "0058"
branch_labels = None
depends_on = None

STATEMENTS = (
    # `reference` names the check of `kyc_profiles` that a document belongs to. `decided_at` is null as long as its user
    # may still change it.
    """
    CREATE TABLE IF NOT EXISTS kyc_documents (
        document_id text PRIMARY KEY,
        user_id text NOT NULL,
        reference text NOT NULL,
        kind text NOT NULL,
        media_type text NOT NULL,
        size integer NOT NULL CHECK (size > 0),
        sha256 text NOT NULL,
        uploaded_at timestamptz NOT NULL,
        decided_at timestamptz,
        sealed_name bytea,
        sealed_content bytea NOT NULL,
        UNIQUE (user_id, reference, kind, sha256)
    )
    """,
    # What is encrypted cannot be compressed: do not try.
    "ALTER TABLE kyc_documents ALTER COLUMN sealed_content SET STORAGE EXTERNAL",
    "CREATE INDEX IF NOT EXISTS kyc_documents_decided ON kyc_documents (decided_at) WHERE decided_at IS NOT NULL",
)


def upgrade() -> None:
    """Make the table."""
    for statement in STATEMENTS:
        op.execute(statement)
