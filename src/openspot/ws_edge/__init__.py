"""The WebSocket edge: live events of the bus, fanned out to clients (Document A 6.3, Document B 4.2).

Connect to `/` with an access token in the query (`?token=…`), or without one for market data alone. Before the
upgrade, a token that is not valid is refused with 401, and a connection beyond a bound with 503: there is one for all
connections, one for those without a token, and one for each client address.

A client sends `{"action": "subscribe" | "unsubscribe" | "ping", "channel"?, "id"?}`; `id` (text or integer) comes
back on the answer. Answers: `{"type": "subscribed" | "unsubscribed", "channel"}`, `{"type": "pong", "ts"}`, and
`{"type": "error", "code", "message"}`, after which the connection stays open.

Channels: `ticker:<SYM>`, `orderbook:<SYM>`, `trades:<SYM>`. The channels `orders` and `balances` need no
subscription: their events come on every connection of a token, to that user alone.

A push is `{"channel", "type": "snapshot" | "update", "event"?, "seq", "ts", "data"}`, `ts` in milliseconds since
1970. `seq` is what the publisher gave (market channels), the engine's event sequence (`orders`; 0 for an order
that never reached the engine), or a count of the user's pushes from 1 (`balances`).

An open connection has missed nothing. Where the edge cannot hold to that, it closes the connection:

| Code | Reason |
|---|---|
| 1008 | too many messages from the client |
| 1009 | a client message above the size limit |
| 1012 | the service stops |
| 1013 | the client reads too slowly, or the edge lost its place on the bus: connect again |
| 4401 | the access token has expired, or its session has ended |
| 4408 | no message from the client within the idle time |

The idle time counts the client's own messages; an answered protocol ping is none, for it says nothing of the
program behind the socket. A client that only listens stays by sending `ping` in time.
"""
