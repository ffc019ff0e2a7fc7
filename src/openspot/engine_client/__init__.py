"""The client of the matching engine, for other services.

- `commands`: orders and money, in frames. It never retries: only the caller knows whether a retry is safe.
- `queries`: symbols, books and balances over HTTP.
- `stream`, `position`: one connection to the event stream, from any sequence on.
- `errors`: why a call failed, and whether the engine may have carried it out.
- `administrators`: finds the session of a token, for routes that operators call.
- `settings`: the engine's addresses, and the credential of the services that call it.
"""
