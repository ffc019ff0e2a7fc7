"""Networks that operators gave to coins, beside those of domain/networks.toml."""

from alembic import op

revision = "0053"
down_revision = "0051"
branch_labels = None
depends_on = None

STATEMENTS = (
    # A network that the file does not have. Its family never changes: addresses of users were made by it.
    """
    CREATE TABLE IF NOT EXISTS listed_networks (
        network text PRIMARY KEY,
        family text NOT NULL,
        confirmations integer NOT NULL CHECK (confirmations >= 1),
        takes_tag boolean NOT NULL,
        listed_at timestamptz NOT NULL
    )
    """,
    # The terms of a coin on a network of the file or of the table above. They replace the file's terms of that coin.
    """
    CREATE TABLE IF NOT EXISTS listed_network_assets (
        network text NOT NULL,
        asset text NOT NULL,
        fee numeric(38, 18) NOT NULL CHECK (fee >= 0),
        minimum numeric(38, 18) NOT NULL CHECK (minimum > fee),
        deposit_minimum numeric(38, 18) NOT NULL CHECK (deposit_minimum > 0),
        listed_at timestamptz NOT NULL,
        PRIMARY KEY (network, asset)
    )
    """,
)


def upgrade() -> None:
    """Make the tables."""
    for statement in STATEMENTS:
        op.execute(statement)
