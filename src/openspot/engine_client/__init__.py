"""The matching engine as its peers see it.

- `commands`: orders and money over gRPC. A call is never repeated here: the caller knows whether it may be.
- `queries`: symbols, books and balances over HTTP.
- `stream`: one connection to the event stream, from any sequence on.
- `errors`: what went wrong, and whether the engine may have done it all the same.
- `settings`: where the engine is, and the credential of its services.
"""
