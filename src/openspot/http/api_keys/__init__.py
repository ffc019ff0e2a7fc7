"""API keys: limited credentials whose owners sign each request (facts A5-12 to A5-17).

The table of keys belongs to the HTTP layer, because every edge checks keys: `store` reads and writes it, `checker`
decides about a signed request, `changes` tells all processes that a key was rotated or revoked. `signature` and
`networks` are the rules, without IO.
"""
