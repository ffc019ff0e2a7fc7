"""What users say about themselves is sealed, and a payment can be cancelled."""

from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

STATEMENTS = (
    # The database does not have the key. The edge seals `clear_information` when it starts, and empties it.
    "ALTER TABLE kyc_profiles ADD COLUMN sealed_information bytea, ADD COLUMN clear_information jsonb",
    """
    UPDATE kyc_profiles SET clear_information = jsonb_build_object(
        'first_name', first_name, 'last_name', last_name, 'date_of_birth', date_of_birth, 'country', country,
        'city', city, 'street', street, 'postal_code', postal_code
    ) WHERE first_name IS NOT NULL
    """,
    """
    ALTER TABLE kyc_profiles DROP COLUMN first_name, DROP COLUMN last_name, DROP COLUMN date_of_birth,
        DROP COLUMN country, DROP COLUMN city, DROP COLUMN street, DROP COLUMN postal_code
    """,
    "ALTER TABLE payments DROP CONSTRAINT payments_status_check",
    """
    ALTER TABLE payments ADD CONSTRAINT payments_status_check CHECK (status IN ('open', 'complete', 'cancelled'))
    """,
)


def upgrade() -> None:
    """Change the tables."""
    for statement in STATEMENTS:
        op.execute(statement)
