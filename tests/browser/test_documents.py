"""Documents of a verification: a user uploads them, an operator looks at them and decides."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from openspot.http.operators import OperatorRole
from openspot.up.child_platform import ChildPlatform
from tests.support.console import OPPOSITE_LOOKS, Console
from tests.support.console_operators import log_in_with
from tests.support.money_user import BASIC_INFORMATION
from tests.support.sample_documents import pdf, picture
from tests.support.trading_screen import Exchange, NewWindow, Trader, TradingScreen

pytestmark = pytest.mark.proof


def begin_check(exchange: Exchange, email: str) -> Trader:
    """A user of the test's own, whose check is open."""
    trader = exchange.register(email)
    token = str(trader.tokens["accessToken"])
    exchange.call("POST", "kyc/basic-info", BASIC_INFORMATION, token)
    exchange.call("POST", "kyc/start", {"level": "verified"}, token)
    return trader


def files_in(folder: Path) -> tuple[Path, Path, Path]:
    """A picture, another one, and a PDF."""
    files = (folder / "passport.png", folder / "better.png", folder / "bill.pdf")
    for file, content in zip(files, (picture("PNG"), picture("PNG", (200, 60, 0)), pdf("Bill")), strict=True):
        file.write_bytes(content)
    return files


def upload(screen: TradingScreen, file: Path, label: str) -> None:
    """Give a file to one of the page's buttons, and wait until it has arrived."""
    screen.page.get_by_label(label, exact=True).set_input_files(file)
    expect(screen.page.get_by_role("button", name=f"Withdraw the document {file.name}")).to_be_visible()


def test_a_user_uploads_documents_and_an_operator_sees_them_and_decides(
    new_window: NewWindow, exchange: Exchange, console: Console, tmp_path: Path
) -> None:
    passport, better, bill = files_in(tmp_path)
    trader = begin_check(exchange, "documented@example.com")
    screen = new_window(trader)
    screen.go("/account/verification", "Verification")
    # Nobody checks what nobody has.
    expect(screen.page.get_by_role("heading", name="Next: upload your documents")).to_be_visible()
    upload(screen, passport, "File: Identity document, front")
    expect(screen.page.get_by_role("heading", name="Your documents are being checked")).to_be_visible()
    upload(screen, bill, "File: Proof of address")
    upload(screen, better, "File instead of passport.png")
    expect(screen.page.get_by_text("passport.png")).to_have_count(0)
    screen.look_over("documents of an open check", OPPOSITE_LOOKS)

    console.open("/verifications", "Verifications")
    console.act(trader.user_id, "Open and decide…")
    dialog = console.dialog("Decide on the verification?")
    dialog.get_by_role("button", name="Show: Identity document, front, better.png").click()
    shown = console.dialog("Identity document, front")
    colour = shown.get_by_role("img", name="Identity document, front").evaluate(
        "canvas => [canvas.width, canvas.height, ...canvas.getContext('2d').getImageData(5, 5, 1, 1).data]"
    )
    assert colour == [48, 32, 200, 60, 0, 255]
    shown.get_by_role("button", name="Close").click()
    with console.page.expect_download() as saving:
        dialog.get_by_role("button", name="Save: Proof of address, bill.pdf").click()
    assert Path(saving.value.path()).read_bytes() == bill.read_bytes()
    console.look_over("a verification with documents", OPPOSITE_LOOKS)
    expect(dialog).to_contain_text("Ada Lovelace, born 1990-12-10")
    dialog.get_by_role("combobox", name="Decision").click()
    console.page.get_by_role("option", name="Approve", exact=True).click()
    dialog.get_by_role("textbox", name="Reason", exact=True).fill("passport and bill match")
    dialog.get_by_role("button", name="Approve").click()
    expect(console.toast("Decided")).to_be_visible()
    expect(screen.page.get_by_role("heading", name="Nothing is left to do")).to_be_visible()


def test_an_auditor_reads_what_a_user_stated_and_decides_nothing(
    exchange: Exchange, visitor: Console, platform: ChildPlatform
) -> None:
    trader = begin_check(exchange, "audited@example.com")
    log_in_with(visitor, platform, OperatorRole.AUDITOR, page=f"/verifications?user={trader.user_id}")
    visitor.page.get_by_role("button", name=f"Actions for {trader.user_id}", exact=True).click()
    expect(visitor.page.get_by_role("menuitem", name="Open and decide…")).to_be_disabled()
    visitor.page.get_by_role("menuitem", name="Look at it…").click()
    dialog = visitor.dialog("Verification of the user")
    expect(dialog).to_contain_text("Ada Lovelace, born 1990-12-10")
    expect(dialog).to_contain_text("12 Square, SW1Y 4JH London, GB")
    expect(dialog.get_by_text("The user has uploaded no documents.")).to_be_visible()
    visitor.look_over("a verification that is read alone", OPPOSITE_LOOKS)


def test_a_file_that_is_none_is_named_and_a_document_is_withdrawn_with_the_keyboard(
    new_window: NewWindow, exchange: Exchange, tmp_path: Path
) -> None:
    passport, *_ = files_in(tmp_path)
    trader = begin_check(exchange, "undocumented@example.com")
    screen = new_window(trader)
    page = screen.page
    screen.go("/account/verification", "Verification")
    wrong = tmp_path / "page.png"
    wrong.write_bytes(b"<script>alert(1)</script>")
    screen.expect_complaint("status of 400")
    page.get_by_label("File: Picture of yourself", exact=True).set_input_files(wrong)
    expect(screen.problem()).to_contain_text("the content is none of JPEG, PNG, WebP and PDF")
    screen.look_over("a refused document", OPPOSITE_LOOKS)
    large = tmp_path / "large.png"
    large.write_bytes(bytes(8_388_609))
    page.get_by_label("File: Picture of yourself", exact=True).set_input_files(large)
    expect(screen.problem()).to_contain_text("The file is too large")
    upload(screen, passport, "File: Identity document, front")
    page.get_by_role("button", name="Withdraw the document passport.png").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("passport.png")).to_have_count(0)
