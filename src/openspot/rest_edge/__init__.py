"""The REST edge: the platform's public HTTP interface (Document B 4.1).

Its wings are `identity`, `notifications`, `funds` and `products`; `orders`, `markets`, `margin` and `site_settings`
stand beside them. Each noun has a package of its own: `schemas.py` says what comes in and goes out, `service.py` what
is done, `store.py` holds the SQL, `routes.py` the routes with their policies. The `service.py` of a wing makes its
services, and its `routes.py` lists its routes. `app.py` puts them together on the HTTP layer (`openspot.http`);
`service.py` runs them.

Imports go one way, from the wings down to `common`; import-linter holds it.
"""
