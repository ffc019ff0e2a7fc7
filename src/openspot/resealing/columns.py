"""Every column that holds something sealed: how it is read, replaced and counted.

A content is replaced only as long as it is the one that was read. So whoever changes the row meanwhile wins, and no
lock is needed: what they wrote is sealed with the current secret, as every edge knows it by then.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from openspot.http.api_keys.vault import secret_purpose, tag_purpose
from openspot.kit.sealing import PREFIX_BYTES
from openspot.rest_edge.funds.documents.store import content_purpose, name_purpose
from openspot.rest_edge.funds.kyc import store as kyc
from openspot.rest_edge.identity.second_factor import code_check

_SMALL, _LARGE = 500, 4
"""So many rows are one transaction. A document has up to some megabytes, and is in memory twice."""


class Column(NamedTuple):
    """A sealed column. `title` is what it holds, in words.

    `select` has the rows whose id is beyond $1 and whose content does not begin with $2, at most `batch` of them ($3),
    in the order of their ids; `update` replaces the content $2 of the row $1 by $3.
    """

    title: str
    select: str
    update: str
    purpose: Callable[[Any], str]
    batch: int = _SMALL


COLUMNS = (
    Column(
        "secrets of API keys",
        "SELECT key_id AS id, sealed_secret AS sealed FROM api_keys WHERE key_id > $1 AND"
        " substring(sealed_secret FROM 1 FOR length($2::bytea)) <> $2 ORDER BY key_id LIMIT $3",
        "UPDATE api_keys SET sealed_secret = $3 WHERE key_id = $1 AND sealed_secret = $2",
        lambda row: secret_purpose(row["id"]),
    ),
    Column(
        "secrets of second factors",
        "SELECT user_id AS id, sealed_secret AS sealed FROM user_mfa WHERE user_id > $1 AND"
        " substring(sealed_secret FROM 1 FOR length($2::bytea)) <> $2 ORDER BY user_id LIMIT $3",
        "UPDATE user_mfa SET sealed_secret = $3 WHERE user_id = $1 AND sealed_secret = $2",
        lambda row: code_check.sealing_purpose(row["id"]),
    ),
    Column(
        "statements of users for verification",
        "SELECT user_id AS id, sealed_information AS sealed FROM kyc_profiles WHERE user_id > $1 AND"
        " substring(sealed_information FROM 1 FOR length($2::bytea)) <> $2 ORDER BY user_id LIMIT $3",
        "UPDATE kyc_profiles SET sealed_information = $3 WHERE user_id = $1 AND sealed_information = $2",
        lambda row: kyc.sealing_purpose(row["id"]),
    ),
    Column(
        "names of documents",
        "SELECT document_id AS id, sealed_name AS sealed FROM kyc_documents WHERE document_id > $1 AND"
        " substring(sealed_name FROM 1 FOR length($2::bytea)) <> $2 ORDER BY document_id LIMIT $3",
        "UPDATE kyc_documents SET sealed_name = $3 WHERE document_id = $1 AND sealed_name = $2",
        lambda row: name_purpose(row["id"]),
    ),
    Column(
        "documents",
        "SELECT document_id AS id, user_id, sealed_content AS sealed FROM kyc_documents WHERE document_id > $1 AND"
        " substring(sealed_content FROM 1 FOR length($2::bytea)) <> $2 ORDER BY document_id LIMIT $3",
        "UPDATE kyc_documents SET sealed_content = $3 WHERE document_id = $1 AND sealed_content = $2",
        lambda row: content_purpose(row["user_id"], row["id"]),
        _LARGE,
    ),
    Column(
        "tag keys of API keys",
        "SELECT key_id AS id, sealed_tag_key AS sealed FROM sealing_keys WHERE key_id > $1 AND"
        " substring(sealed_tag_key FROM 1 FOR length($2::bytea)) <> $2 ORDER BY key_id LIMIT $3",
        "UPDATE sealing_keys SET sealed_tag_key = $3 WHERE key_id = $1 AND sealed_tag_key = $2",
        lambda row: tag_purpose(row["id"]),
    ),
)

IS_THERE = "SELECT to_regclass('sealing_keys') IS NOT NULL"
"""Whether the database has the table that `USES` needs."""
USES = f"""
    WITH found (title, prefix) AS (
        SELECT '{COLUMNS[0].title}', substring(sealed_secret FROM 1 FOR {PREFIX_BYTES}) FROM api_keys
        UNION ALL SELECT '{COLUMNS[1].title}', substring(sealed_secret FROM 1 FOR {PREFIX_BYTES}) FROM user_mfa
        UNION ALL SELECT '{COLUMNS[2].title}', substring(sealed_information FROM 1 FOR {PREFIX_BYTES}) FROM kyc_profiles
        UNION ALL SELECT '{COLUMNS[3].title}', substring(sealed_name FROM 1 FOR {PREFIX_BYTES}) FROM kyc_documents
        UNION ALL SELECT '{COLUMNS[4].title}', substring(sealed_content FROM 1 FOR {PREFIX_BYTES}) FROM kyc_documents
        UNION ALL SELECT '{COLUMNS[5].title}', substring(sealed_tag_key FROM 1 FOR {PREFIX_BYTES}) FROM sealing_keys
    )
    SELECT title, coalesce(key_id, '') AS key_id, count(*) AS rows FROM found
    LEFT JOIN sealing_keys ON '\\x01'::bytea || decode(key_id, 'hex') = prefix
    WHERE prefix IS NOT NULL GROUP BY 1, 2 ORDER BY 1, 2
"""  # noqa: S608
"""How many rows of each column each key has sealed; the key of a content from before keys had names is empty."""
FIRST_KEYS = """
    SELECT key_id FROM sealing_keys WHERE noted_at = (SELECT min(noted_at) FROM sealing_keys) ORDER BY key_id
"""
"""The keys that were known when keys got names. One of them has sealed what names none."""
