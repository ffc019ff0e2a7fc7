"""The number that stands for a transfer. Journals keep it, so its value for a given transfer never changes."""

from openspot.domain.transfer import TransferKind, transfer_digest

MOVEMENTS = [("ann", "house:fees", "USD", 1_500_000_000_000_000_000), ("house:fees", "bob", "BTC", 7)]


def test_a_transfer_has_always_had_this_digest() -> None:
    assert transfer_digest(TransferKind.PAYMENT, MOVEMENTS) == 961268444062216057438349359120513545
    assert transfer_digest(TransferKind.REFUND, MOVEMENTS[:1]) == 338026008805781532310295166121881501
    assert transfer_digest(TransferKind.PAYMENT, []) == 690665644553420389987420751452289488
