"""Makes what is behind the routes of operators: their sessions and roles, the trail of what they did, and reports."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import aiohttp

from openspot.coin_networks.pauses import FollowedPauses
from openspot.domain.market import AssetScale
from openspot.engine_client.administrators import EngineSessions
from openspot.engine_client.listings import EngineListings
from openspot.engine_client.operators import OperatorSessions
from openspot.engine_client.participants import EngineParticipants
from openspot.http.api_keys.networks import AllowedNetworks
from openspot.http.authentication import UserTokens
from openspot.http.operator_store import standing_of
from openspot.kit.bus import Bus
from openspot.kit.clock import utc_now
from openspot.kit.database import Pool
from openspot.kit.service_frame import ServiceFrame
from openspot.rest_edge.common.repeated_work import repeat
from openspot.rest_edge.identity.sessions.ended_sessions import EndedSessions
from openspot.rest_edge.operators.alerting.service import OperatorAlerts
from openspot.rest_edge.operators.coins.service import CoinNetworks
from openspot.rest_edge.operators.custody_trail import FOLLOW_INTERVAL_S as CUSTODY_INTERVAL_S
from openspot.rest_edge.operators.custody_trail import CustodyTrail
from openspot.rest_edge.operators.engine_trail import FOLLOW_INTERVAL_S, EngineTrail
from openspot.rest_edge.operators.exports import Exports
from openspot.rest_edge.operators.markets.margin import MarginNeeds
from openspot.rest_edge.operators.markets.service import OperatorMarkets
from openspot.rest_edge.operators.operators import Operators
from openspot.rest_edge.operators.participants.service import OperatedParticipants
from openspot.rest_edge.operators.pauses.service import TransferPauses
from openspot.rest_edge.operators.processes.service import Processes
from openspot.rest_edge.operators.reports.service import CLOSE_INTERVAL_S, CustodyReserves, Reports
from openspot.rest_edge.operators.runs.service import Runs
from openspot.rest_edge.operators.sessions import SessionsOfOperators
from openspot.rest_edge.operators.trail_heads import KEEP_INTERVAL_S, HeadKeeper
from openspot.rest_edge.operators.trail_pages import Trail
from openspot.rest_edge.settings import RestEdgeSettings


@dataclass(frozen=True, slots=True)
class OperatorServices:
    """The services behind the routes of operators, and the authenticator of operators' sessions."""

    sessions: OperatorSessions
    operators: Operators
    markets: OperatorMarkets
    participants: OperatedParticipants
    session_list: SessionsOfOperators
    trail: Trail
    exports: Exports
    reports: Reports
    alerts: OperatorAlerts
    coins: CoinNetworks
    pauses: TransferPauses
    processes: Processes
    runs: Runs


async def make_operator_services(
    settings: RestEdgeSettings,
    pool: Pool,
    bus: Bus,
    frame: ServiceFrame,
    *,
    tokens: UserTokens,
    ended: EndedSessions,
    custody_reserves: CustodyReserves,
    assets: Mapping[str, AssetScale],
    pauses: FollowedPauses,
) -> OperatorServices:
    """Make the services; `frame` ends them in reverse order."""
    client = await frame.enter(aiohttp.ClientSession())
    engine = EngineSessions(client, settings.engine_url, settings.read_timeout_s)
    timeout = aiohttp.ClientTimeout(total=settings.request_timeout_s)
    service = await frame.enter(aiohttp.ClientSession(headers=settings.service_headers, timeout=timeout))
    plain = await frame.enter(aiohttp.ClientSession(timeout=timeout))
    heads = HeadKeeper(pool, settings.data_dir)
    repeat(frame, "keep the head of the operators' trail", heads.keep, KEEP_INTERVAL_S)
    reports = Reports(pool, custody_reserves, utc_now)
    repeat(frame, "close the days of reports", reports.close, CLOSE_INTERVAL_S)
    listings = EngineListings(service, settings.engine_url)
    engine_trail = EngineTrail(pool, listings)
    repeat(frame, "follow what operators do at the engine", engine_trail.follow, FOLLOW_INTERVAL_S)
    decisions = CustodyTrail(pool)
    repeat(frame, "follow what operators decide at custody", decisions.follow, CUSTODY_INTERVAL_S)
    networks = AllowedNetworks(settings.operator_network_list)
    return OperatorServices(
        sessions=OperatorSessions(tokens, partial(standing_of, pool), engine, networks),
        operators=Operators(pool, ended),
        markets=OperatorMarkets(listings, engine_trail, MarginNeeds(bus)),
        participants=OperatedParticipants(pool, EngineParticipants(service, settings.engine_url), engine_trail),
        session_list=SessionsOfOperators(pool, ended),
        trail=Trail(pool),
        exports=Exports(pool),
        reports=reports,
        alerts=OperatorAlerts(pool, plain, settings.alerts_url, settings.alerts_headers),
        coins=CoinNetworks(pool, assets, utc_now, is_open=settings.follows_listings),
        pauses=TransferPauses(pool, utc_now, pauses),
        processes=Processes(pool, settings.data_dir),
        runs=Runs(pool),
    )
