"""All routes of products."""

from openspot.http.routing import Router
from openspot.rest_edge.products.conversions.routes import conversion_routes
from openspot.rest_edge.products.payments.routes import payment_routes
from openspot.rest_edge.products.service import ProductServices
from openspot.rest_edge.products.staking.routes import staking_routes


def product_routes(prefix: str, products: ProductServices) -> list[Router]:
    """`/conversions`, `/staking` and `/payments`, below `prefix`."""
    return [
        conversion_routes(prefix, products.conversions),
        staking_routes(prefix, products.staking),
        payment_routes(prefix, products.payments),
    ]
