"""What every HTTP service shares: the request pipeline, route policy, validation, errors and the server.

A service declares its routes on a `Router`; each route names its `Policy`. `make_http_app` turns routers into an
application, and `HttpServer` serves it:

    router = Router("/api/v1/greetings", tag="greetings")

    @router.get("/{name}", Policy(Access.USER, Scope.READ), response=Greeting, summary="Greet somebody")
    async def greet(request: Request, name: str) -> Response:
        return json_response({"text": f"hello {name}, from {caller(request).user_id}"})

    app = make_http_app([router], title="Greetings", authenticators=[UserTokens(secret)], health=Health())

The guard, the throttle, the audit trail, OpenAPI and docs/protocol/rest.md all follow from the policies.
"""
