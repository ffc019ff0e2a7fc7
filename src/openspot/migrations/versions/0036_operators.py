"""Roles of operators, and the chained trail of what operators did."""

from alembic import op

revision = "0036"
down_revision = "0035"
branch_labels = None
depends_on = None

STATEMENTS = (
    # `granted_by` is the operator who gave the role: `user:<userId>`, `engine:<participantId>` or `shell:<account>`.
    """
    CREATE TABLE operator_roles (
        user_id text NOT NULL REFERENCES users (user_id) ON DELETE CASCADE,
        role text NOT NULL CHECK (
            role IN ('SUPPORT', 'COMPLIANCE', 'TREASURY', 'MARKET_OPERATIONS', 'AUDITOR', 'ADMINISTRATOR')
        ),
        granted_by text NOT NULL,
        granted_at timestamptz NOT NULL,
        PRIMARY KEY (user_id, role)
    )
    """,
    "CREATE INDEX operator_roles_of_role ON operator_roles (role)",
    # `before` and `after` are JSON as it was hashed. `origin_hash` stands for the address that the operator called
    # from: the address itself is personal data, is in the other table, and may be erased.
    """
    CREATE TABLE operator_actions (
        entry_number bigint PRIMARY KEY,
        previous_hash text NOT NULL,
        hash text NOT NULL,
        operator text NOT NULL,
        action text NOT NULL,
        subject_kind text NOT NULL,
        subject_id text NOT NULL,
        reason text NOT NULL,
        before text NOT NULL,
        after text NOT NULL,
        request_id text NOT NULL,
        origin_hash text NOT NULL,
        at_ms bigint NOT NULL
    )
    """,
    "CREATE INDEX operator_actions_of_operator ON operator_actions (operator, entry_number)",
    "CREATE INDEX operator_actions_of_subject ON operator_actions (subject_id, entry_number)",
    "CREATE INDEX operator_actions_of_action ON operator_actions (action, entry_number)",
    "CREATE INDEX operator_actions_at ON operator_actions (at_ms)",
    """
    CREATE TABLE operator_action_origins (
        entry_number bigint PRIMARY KEY REFERENCES operator_actions (entry_number),
        operator text NOT NULL,
        salt text NOT NULL,
        address text NOT NULL
    )
    """,
    "CREATE INDEX operator_action_origins_of_operator ON operator_action_origins (operator)",
    """
    CREATE FUNCTION refuse_change_of_operator_actions() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        RAISE EXCEPTION 'the trail of operators is never changed' USING ERRCODE = 'restrict_violation';
    END $$
    """,
    """
    CREATE TRIGGER operator_actions_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON operator_actions
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_operator_actions()
    """,
)


def upgrade() -> None:
    """Make the tables, and the trigger that keeps the trail as it is."""
    for statement in STATEMENTS:
        op.execute(statement)
