"""The list of markets and assets as of the newest command: terms, limits, and the document that services follow.

A market of domain/markets.toml has the terms of that file until an operator changes them. Every other symbol has terms
only if it was listed with some. What a market offers is known of every one, also where the journal does not say it.
"""

import asyncio
import hashlib

import msgspec

from openspot.contracts.listings import ListedAsset, ListedMarket, MarketList, MarketTerms, seed_terms
from openspot.domain.listing import ENDED
from openspot.domain.market import MarketConfiguration, MarketLimits
from openspot.domain.symbol import SymbolSpec
from openspot.engine.state.directory import Directory


class MarketBoard:
    """Follows a directory. Call `note` after each batch of commands. Belongs to the engine's event loop."""

    def __init__(self, directory: Directory, epoch: str, seed: MarketConfiguration) -> None:
        self._directory = directory
        self._epoch = epoch
        self._seed = seed_terms(seed)
        self.seed_assets = frozenset(seed.assets)
        """The assets that the platform began with."""
        self._noted = -1
        self._changed = asyncio.Event()
        self.is_over = False
        """Whether the engine ends: nobody waits for another version then."""
        self.limits: dict[str, MarketLimits] = {}
        """The limits of each market that has terms. It changes in place."""
        self.document = MarketList(version="", currencies=[], markets=[])
        """What services follow."""
        self.note()

    def terms(self, spec: SymbolSpec) -> MarketTerms | None:
        """The terms of a symbol; None if it has none. What it offers is always among them, and nothing if it ended."""
        seed = self._seed.get(spec.symbol)
        terms = self._directory.terms.get(spec.symbol_id) or seed
        if terms is None:
            return None
        if terms.status in ENDED:
            return msgspec.structs.replace(terms, offers=[])
        if terms.offers is msgspec.UNSET:
            return msgspec.structs.replace(terms, offers=seed.offers if seed else [])
        return terms

    def note(self) -> bool:
        """Take what the directory says now. Returns whether it has changed since the last call."""
        directory = self._directory
        if directory.version == self._noted:
            return False
        self._noted = directory.version
        specs = sorted(directory.symbols.values(), key=lambda spec: spec.symbol_id)
        currencies = sorted(directory.currencies.values(), key=lambda currency: currency.currency_id)
        known = [(spec, self.terms(spec)) for spec in specs]
        self.limits.clear()
        self.limits.update({spec.symbol: terms.limits(spec.symbol) for spec, terms in known if terms is not None})
        document = MarketList(
            version="",
            currencies=[
                ListedAsset(
                    asset=currency.currency,
                    currency_id=currency.currency_id,
                    name=currency.name,
                    places=currency.places,
                    logo=currency.logo,
                )
                for currency in currencies
            ],
            markets=[
                ListedMarket(
                    symbol=spec.symbol, terms=terms, taker_fee=spec.taker_fee_bps, maker_fee=spec.maker_fee_bps
                )
                for spec, terms in known
            ],
        )
        content = msgspec.json.encode([self._epoch, document, [(spec.symbol, spec.active) for spec in specs]])
        self.document = msgspec.structs.replace(document, version=hashlib.blake2b(content, digest_size=12).hexdigest())
        self._wake()
        return True

    def end(self) -> None:
        """Let those who wait for another version have their answer now, because the engine ends."""
        self.is_over = True
        self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def next_version(self, version: str, seconds: float) -> MarketList | None:
        """The document, as soon as its version is another than `version`.

        None if it is not after `seconds`, or if the engine ends.
        """
        if self.document.version == version:
            try:
                async with asyncio.timeout(seconds):
                    await self._changed.wait()
            except TimeoutError:
                return None
        return None if self.document.version == version else self.document
