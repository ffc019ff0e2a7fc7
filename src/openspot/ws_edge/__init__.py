"""The WebSocket edge: live events of the bus, fanned out to clients (Document A 6.3, Document B 4.2).

Connect to `/` with an access token in the query (`?token=…`), or without one for market data alone. Before the
upgrade, the edge refuses an invalid token with 401, and a connection beyond a limit with 503. There is a limit for all
connections, one for those without a token, and one for each client address.

A client sends `{"action": "subscribe" | "unsubscribe" | "ping", "channel"?, "id"?}`. The reply repeats `id` (text or
integer). Replies are `{"type": "subscribed" | "unsubscribed", "channel"}`, `{"type": "pong", "ts"}`, and
`{"type": "error", "code", "message"}`, after which the connection stays open.

Channels: `ticker:<SYM>`, `orderbook:<SYM>`, `trades:<SYM>`. The channels `orders` and `balances` need no subscription:
each connection with a token receives the events of that user.

A push is `{"channel", "type": "snapshot" | "update", "event"?, "seq", "ts", "data"}`, `ts` in milliseconds since 1970.
`seq` is the publisher's number (market channels), the engine's event sequence (`orders`; 0 for an order that never
reached the engine), or a count of the user's pushes from 1 (`balances`).

While a connection is open, its client has missed nothing. If the edge cannot guarantee that, it closes the connection:

| Code | Reason |
|---|---|
| 1008 | too many messages from the client |
| 1009 | a client message above the size limit |
| 1012 | the service is stopping |
| 1013 | the client reads too slowly, or the edge lost its place on the bus: connect again |
| 4401 | the access token has expired, or its session has ended |
| 4408 | no message from the client within the idle time |

Only the client's own messages count as activity. A protocol pong does not, because it says nothing about the program
behind the socket. A client that only listens must send `ping` in time.
"""
