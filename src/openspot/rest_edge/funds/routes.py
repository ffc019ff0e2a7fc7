"""All routes of funds."""

from openspot.http.routing import Router
from openspot.rest_edge.funds.accounts.routes import account_routes
from openspot.rest_edge.funds.addresses.routes import withdrawal_address_routes
from openspot.rest_edge.funds.documents.routes import document_routes
from openspot.rest_edge.funds.fees.routes import fee_routes
from openspot.rest_edge.funds.kyc.routes import kyc_routes
from openspot.rest_edge.funds.reserves.routes import reserve_routes
from openspot.rest_edge.funds.service import FundServices
from openspot.rest_edge.funds.withdrawals.routes import withdrawal_routes


def fund_routes(prefix: str, funds: FundServices, *, fast_paths: bool = True) -> list[Router]:
    """`/kyc`, `/accounts`, `/users/me/withdrawal-addresses`, `/fees`, `/orders/estimate`
    and `/reserves`, below `prefix`.

    Without `fast_paths` FastAPI handles every route.
    """
    return [
        kyc_routes(prefix, funds.kyc),
        document_routes(prefix, funds.documents),
        account_routes(prefix, funds.accounts, funds.portfolio, fast_paths=fast_paths),
        withdrawal_routes(prefix, funds.withdrawals),
        withdrawal_address_routes(prefix, funds.withdrawal_addresses),
        fee_routes(prefix, funds.fees),
        reserve_routes(prefix, funds.reserves),
    ]
