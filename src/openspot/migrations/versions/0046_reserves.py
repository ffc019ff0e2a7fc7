"""Proofs of reserves: what each states, its leaves, and the nodes above the blocks of leaves."""

from alembic import op

revision = "0046"
down_revision = "0045"
branch_labels = None
depends_on = None

STATEMENTS = (
    # The statement is kept as it is published. `width` is the number of its assets.
    """
    CREATE TABLE IF NOT EXISTS reserve_proofs (
        proof_id text PRIMARY KEY,
        taken_at timestamptz NOT NULL,
        statement jsonb NOT NULL,
        digest text NOT NULL UNIQUE,
        depth integer NOT NULL,
        width integer NOT NULL,
        user_count bigint NOT NULL
    )
    """,
    "CREATE INDEX IF NOT EXISTS reserve_proofs_newest ON reserve_proofs (taken_at DESC, proof_id DESC)",
    # A leaf of nobody has no user and no amounts. Leaves stay when a user is deleted, as the ledger's entries do:
    # without them nobody else could check the tree any more.
    """
    CREATE TABLE IF NOT EXISTS reserve_leaves (
        proof_id text NOT NULL,
        position bigint NOT NULL,
        user_id text,
        nonce bytea NOT NULL,
        amounts bytea NOT NULL,
        PRIMARY KEY (proof_id, position)
    )
    """,
    "CREATE INDEX IF NOT EXISTS reserve_leaves_of_user ON reserve_leaves (user_id, proof_id) WHERE user_id IS NOT NULL",
    """
    CREATE TABLE IF NOT EXISTS reserve_nodes (
        proof_id text NOT NULL,
        level integer NOT NULL,
        position bigint NOT NULL,
        hash bytea NOT NULL,
        sums bytea NOT NULL,
        PRIMARY KEY (proof_id, level, position)
    )
    """,
)


def upgrade() -> None:
    """Create the tables."""
    for statement in STATEMENTS:
        op.execute(statement)
