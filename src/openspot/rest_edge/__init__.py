"""The REST edge: the platform's public HTTP interface (facts B4.1-01 to B4.1-90).

Its wings are `identity`, `notifications`, `funds` and `products`; `orders`, `markets`, `margin` and `site_settings`
stand beside them. Each noun has a package of its own: `schemas.py` holds the shapes of requests and responses,
`service.py` the work, `store.py` the SQL, and `routes.py` the routes with their policies. The `service.py` of a wing
makes its services, and its `routes.py` lists its routes. `app.py` puts them together on the HTTP layer
(`openspot.http`); `service.py` runs them.

Imports go one way, from the wings down to `common`; import-linter checks this.
"""
