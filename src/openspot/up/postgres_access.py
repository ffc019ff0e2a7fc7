"""Who may connect to the embedded PostgreSQL, and what the platform owns in it.

Connections come over a Unix socket, so the server asks the kernel which account is at the other end ("peer"). Only
root and the account of the platform may connect. There is no password that somebody could read. The services
use a role that owns its database and is no superuser: a superuser can run programs as the server's account.
"""

import os
import pwd

ADMINISTRATOR = "postgres"
"""Superuser of the server. It only makes the role and the databases."""
ROLE = "openspot"
"""Role of the services."""
DATABASE = "openspot"
_MAP = "openspot"

HOST_BASED_ACCESS = f"""\
# Written by OpenSpot at each start.
# TYPE  DATABASE  USER  METHOD
local   all       {ROLE}  peer map={_MAP}
local   all       {ADMINISTRATOR}  peer map={_MAP}
"""
"""Contents of pg_hba.conf. A connection that matches no line is refused."""


def identity_map(account: str) -> str:
    """Contents of pg_ident.conf: root and `account` may take both roles."""
    lines = ["# Written by OpenSpot at each start.", "# MAPNAME  SYSTEM-USERNAME  PG-USERNAME"]
    for name in dict.fromkeys(("root", account)):
        quoted = '"' + name.replace('"', '""') + '"'
        lines += [f"{_MAP}  {quoted}  {role}" for role in (ROLE, ADMINISTRATOR)]
    return "\n".join(lines) + "\n"


def own_account() -> str:
    """Name of the account of this process, as the server will see it."""
    return pwd.getpwuid(os.geteuid()).pw_name


MAKE_ROLE = """\
DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'openspot') THEN
        CREATE ROLE openspot LOGIN;
    END IF;
END $$
"""


def find_owner(database: str) -> str:
    """Finds the owner of a database; no row if there is no such database yet."""
    name = database.replace("'", "''")
    return f"SELECT rolname FROM pg_database JOIN pg_roles ON pg_roles.oid = datdba WHERE datname = '{name}'"  # noqa: S608


def make_database(database: str) -> str:
    """Makes a database that the role owns."""
    name = database.replace('"', '""')
    return f'CREATE DATABASE "{name}" OWNER {ROLE}'


HAND_OVER_CONTENTS = """\
DO $$
DECLARE
    statement text;
BEGIN
    FOR statement IN
        WITH of_extensions AS (
            SELECT classid, objid FROM pg_depend WHERE deptype = 'e'
        ), own_schemas AS (
            SELECT oid, nspname FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'
        )
        SELECT format('ALTER SCHEMA %I OWNER TO openspot', nspname)
        FROM own_schemas JOIN pg_namespace USING (oid, nspname)
        WHERE nspowner = 'postgres'::regrole
        UNION ALL
        SELECT format('ALTER %s %I.%I OWNER TO openspot', kind, nspname, relname)
        FROM pg_class
        JOIN own_schemas ON own_schemas.oid = relnamespace
        JOIN (VALUES ('r', 'TABLE'), ('p', 'TABLE'), ('v', 'VIEW'), ('m', 'MATERIALIZED VIEW'), ('f', 'FOREIGN TABLE'),
                     ('S', 'SEQUENCE'), ('c', 'TYPE')) AS kinds (letter, kind) ON letter = relkind::text
        WHERE relowner = 'postgres'::regrole
        AND ('pg_class'::regclass, pg_class.oid) NOT IN (SELECT classid, objid FROM of_extensions)
        -- A sequence that belongs to a column follows its table.
        AND NOT (relkind = 'S' AND EXISTS (
            SELECT FROM pg_depend
            WHERE classid = 'pg_class'::regclass AND objid = pg_class.oid AND deptype IN ('a', 'i')
        ))
        UNION ALL
        SELECT format('ALTER ROUTINE %s OWNER TO openspot', pg_proc.oid::regprocedure)
        FROM pg_proc JOIN own_schemas ON own_schemas.oid = pronamespace
        WHERE proowner = 'postgres'::regrole
        AND ('pg_proc'::regclass, pg_proc.oid) NOT IN (SELECT classid, objid FROM of_extensions)
        UNION ALL
        SELECT format('ALTER TYPE %I.%I OWNER TO openspot', nspname, typname)
        FROM pg_type JOIN own_schemas ON own_schemas.oid = typnamespace
        WHERE typowner = 'postgres'::regrole AND typtype IN ('d', 'e', 'r')
        AND ('pg_type'::regclass, pg_type.oid) NOT IN (SELECT classid, objid FROM of_extensions)
    LOOP
        EXECUTE statement;
    END LOOP;
END $$
"""
"""Gives the role everything that earlier releases made as the superuser; run inside the database.

REASSIGN OWNED cannot do it: it refuses the server's first superuser.
"""

HAND_OVER_DATABASE = "ALTER DATABASE openspot OWNER TO openspot"
