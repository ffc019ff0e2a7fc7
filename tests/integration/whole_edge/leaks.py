"""What no response may show: words of the code, the database or the machine behind it."""

import re

LEAKS = re.compile(
    r"Traceback|\.py\b|site-packages|NoneType|substring not found|object has no attribute"
    r"|asyncpg|psycopg|pydantic|sqlalchemy|SELECT .* FROM|INSERT INTO|violates|syntax error|/(?:home|root|tmp)/"
    r"|[A-Z][a-z]+(Error|Exception)\b"
)
