"""Makes what API keys consist of: their check at each request, and the routes that change them."""

from contextlib import AsyncExitStack
from dataclasses import dataclass

from openspot.http.api_keys.authenticator import ApiKeys
from openspot.http.api_keys.changes import KeyChanges
from openspot.http.api_keys.checker import ApiKeyChecker
from openspot.http.api_keys.replays import Replays
from openspot.http.api_keys.store import ApiKeyStore
from openspot.http.api_keys.uses import UseRecorder
from openspot.http.api_keys.vault import Vault
from openspot.kit.bus import Bus
from openspot.kit.clock import system_clock
from openspot.kit.database import Pool
from openspot.rest_edge.api_keys.service import ApiKeyService
from openspot.rest_edge.identity import UserServices
from openspot.rest_edge.settings import RestEdgeSettings


@dataclass(frozen=True, slots=True)
class KeyServices:
    """The routes of API keys, and the authenticator of signed requests."""

    routes: ApiKeyService
    authenticator: ApiKeys


def make_key_services(
    settings: RestEdgeSettings,
    pool: Pool,
    bus: Bus,
    replays: Replays,
    users: UserServices,
    stack: AsyncExitStack,
) -> KeyServices:
    """Make the services; `stack` ends them, the newest first."""
    store, vault = ApiKeyStore(pool), Vault(settings.sealing_secret)
    checker = ApiKeyChecker(store, vault, replays)
    changes = KeyChanges(bus, lambda ended: checker.drop(ended.key_id))
    changes.start()
    stack.push_async_callback(changes.stop)
    uses = UseRecorder(checker, store)
    uses.start()
    stack.push_async_callback(uses.stop)
    return KeyServices(
        ApiKeyService(store, vault, changes, users.second_factor, users.activity, system_clock), ApiKeys(checker)
    )
