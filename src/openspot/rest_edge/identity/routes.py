"""All routes of identity."""

from openspot.http.routing import Router
from openspot.rest_edge.identity.activity.routes import activity_routes
from openspot.rest_edge.identity.api_keys.routes import api_key_routes
from openspot.rest_edge.identity.auth.routes import auth_routes
from openspot.rest_edge.identity.second_factor.routes import mfa_routes
from openspot.rest_edge.identity.service import KeyServices, UserServices
from openspot.rest_edge.identity.sessions.routes import session_routes
from openspot.rest_edge.identity.users.role_routes import role_routes
from openspot.rest_edge.identity.users.routes import user_routes


def identity_routes(prefix: str, users: UserServices, keys: KeyServices) -> list[Router]:
    """`/auth`, `/users` and `/api-keys`, below `prefix`."""
    return [
        auth_routes(prefix, users.auth, users.mail_proof),
        user_routes(
            prefix,
            profiles=users.profiles,
            check_ins=users.check_ins,
            password_change=users.password_change,
            mail_proof=users.mail_proof,
            deletion=users.deletion,
        ),
        role_routes(prefix, users.roles, users.ended, users.second_factor),
        activity_routes(prefix, users.activity),
        session_routes(prefix, users.sessions),
        mfa_routes(prefix, users.mfa),
        api_key_routes(prefix, keys.routes),
    ]
