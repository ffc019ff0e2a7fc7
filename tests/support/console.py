"""The operator console in a browser: what its tests do on every page, by role and by label."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import ConsoleMessage, Error, Locator, Page, Request, ViewportSize, expect

from tests.support.operator import Login
from tests.support.waiting import stretched

AXE = Axe().axe_script
AXE_TAGS = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")
AXE_RULES_OF_COLOURS = ("color-contrast", "link-in-text-block")
"""The rules of these tags that look at colours: in a second theme at the same size, no other finds anything new."""
AXE_RUN = """([context, wanted]) => axe.run(context ?? document, { runOnly: wanted, resultTypes: ["violations"] })
    .then(({ violations }) => violations)"""
SETTLED = """() => {
    const chosen = localStorage.getItem("mantine-color-scheme-value");
    const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
    const wanted = chosen === "light" || chosen === "dark" ? chosen : isDark ? "dark" : "light";
    const isMoving = document.getAnimations().some(({ playState }) => playState === "running");
    return document.documentElement.dataset.mantineColorScheme === wanted && !isMoving;
}"""
"""Whether the page shows the theme that its browser or its user wants.

Colours are inherited by one level of the page in each frame, since even without motion each change is a transition.
"""
OUTSIDE = """() => [...document.querySelectorAll("body *")]
    .filter((element) => element.scrollWidth > element.clientWidth && element.clientWidth > 0)
    .map((element) => `${element.tagName} ${element.className}: ${element.textContent.slice(0, 80)}`).slice(-8)"""
"""The elements that are narrower than what is in them, the innermost last."""
SERIOUS = ("serious", "critical")
WAIT_MS = 1000 * stretched(30)
PHONE: ViewportSize = {"width": 390, "height": 844}
DESK: ViewportSize = {"width": 1440, "height": 900}
Look = tuple[Literal["dark", "light"], ViewportSize]
LOOKS: tuple[Look, ...] = (("light", PHONE), ("dark", PHONE), ("dark", DESK), ("light", DESK))
"""In this order the window changes its size twice: that costs several times as much as another theme."""
OPPOSITE_LOOKS: tuple[Look, ...] = (("dark", PHONE), ("light", DESK))
"""Two of the four, for states of pages that are looked at in all of them."""
BETWEEN: tuple[ViewportSize, ...] = ({"width": 768, "height": 1024}, {"width": 1024, "height": 768})
"""Tablets: what fits into a phone and a desk need not fit there, where side bars and columns begin."""

MODAL = "[role=dialog][aria-modal=true]"

expect.set_options(timeout=WAIT_MS)


class Console:
    """One page of the console, with everything that its browser complained about and everything that it asked for."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.url = url
        self.requests: list[Request] = []
        self._complaints: list[str] = []
        self._expected: list[str] = ["Service Worker registration blocked by Playwright"]
        page.set_default_timeout(WAIT_MS)
        page.on("console", self._note)
        page.on("pageerror", lambda error: self._complaints.append(f"page error: {error}"))
        page.on("request", lambda request: self.requests.append(request))

    def _note(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self._complaints.append(f"{message.type}: {message.text} at {message.location.get('url', '')}")

    def expect_complaint(self, pattern: str) -> None:
        """The browser may complain in words that match: it reports every failed request by itself."""
        self._expected.append(pattern)

    def assert_quiet(self) -> None:
        """Fail if the browser complained about anything else."""
        unexpected = [text for text in self._complaints if not any(re.search(known, text) for known in self._expected)]
        assert not unexpected, "\n".join(unexpected)

    # Getting about

    def bring_session(self, login: Login) -> None:
        """Let the tab have a session before its first page, as after a reload; a logout is not undone."""
        session = {
            "token": login.token,
            "participantId": login.participant_id,
            "name": login.name,
            "type": login.type,
            "expiresAt": login.expires_at,
        }
        script = """session => {
            if (sessionStorage.getItem("test.brought") !== null) return;
            sessionStorage.setItem("test.brought", "yes");
            sessionStorage.setItem("openspot.console.session", session);
        }"""
        self.page.add_init_script(f"({script})({json.dumps(json.dumps(session))})")

    def open(self, path: str, heading: str) -> None:
        """Open a page of the console by its address, and wait for its heading."""
        self.page.goto(f"{self.url}/console{path}")
        expect(self.heading(heading)).to_be_visible()

    def stop_polling(self) -> None:
        """Let nothing be read again by itself: what heals then, a click has healed. For the pages opened afterwards."""
        self.page.add_init_script(
            """(() => {
                const repeat = window.setInterval;
                window.setInterval = (run, pause, ...rest) => (pause >= 1000 ? 0 : repeat(run, pause, ...rest));
            })()"""
        )

    def log_in(self, participant_id: str, password: str) -> None:
        """Fill in the login and send it."""
        self.page.get_by_label("Participant id").fill(participant_id)
        self.page.get_by_role("textbox", name="Password").fill(password)
        self.page.get_by_role("button", name="Log in").click()

    def heading(self, name: str) -> Locator:
        """The heading of a page."""
        return self.page.get_by_role("heading", level=1, name=name, exact=True)

    # Parts of pages

    def table(self, name: str) -> Locator:
        """A table by its name."""
        return self.page.get_by_role("table", name=name, exact=True)

    def row(self, table: str, *texts: str) -> Locator:
        """The rows of a table that show all of these texts."""
        rows = self.table(table).get_by_role("row")
        for text in texts:
            rows = rows.filter(has_text=text)
        return rows

    def act(self, row_name: str, action: str) -> None:
        """Choose an action of a row's menu."""
        self.page.get_by_role("button", name=f"Actions for {row_name}", exact=True).click()
        self.page.get_by_role("menuitem", name=action).click()

    def dialog(self, title: str) -> Locator:
        """An open dialog by its title."""
        return self.page.get_by_role("dialog", name=title)

    def choose(self, label: str, value: str, within: Locator | None = None) -> None:
        """Choose an entry of a searchable list."""
        scope: Locator | Page = self.page if within is None else within
        field = scope.get_by_role("combobox", name=label, exact=True)
        field.click()
        field.fill(value)
        self.page.get_by_role("option", name=value, exact=True).click()

    def close_menu(self) -> None:
        """Close the menu that is open. It takes Escape only once the focus is in it, a moment after it is shown."""
        menu = self.page.get_by_role("menu")
        menu.press("Escape")
        expect(menu).to_be_hidden()

    def save_as_file(
        self,
        name: str,
        title: str = "Save the list as a file?",
        *,
        form: str = "CSV",
        button: str = "Save as a file",
    ) -> Path:
        """Save the list on the screen with the dialog of that title, and return the file that the browser saved."""
        self.page.get_by_role("button", name=button).click()
        dialog = self.dialog(title)
        dialog.get_by_role("textbox", name="Reason").fill("yearly audit")
        dialog.get_by_text(form, exact=True).click()
        with self.page.expect_download() as download:
            dialog.get_by_role("button", name="Save the file").click()
        assert download.value.suggested_filename == name
        expect(dialog).to_be_hidden()
        return download.value.path()

    def save_view(self, name: str) -> None:
        """Save the filters of the page as a view."""
        self.page.get_by_role("button", name="Views").click()
        self.page.get_by_role("menuitem", name="Save these filters…").click()
        saving = self.dialog("Save these filters?")
        saving.get_by_label("Name").fill(name)
        saving.get_by_role("button", name="Save the view").click()
        expect(self.page.get_by_role("button", name=f"View: {name}")).to_be_visible()

    def open_view(self, name: str) -> None:
        """Give the page the filters of a view."""
        self.page.get_by_role("button", name="Views").click()
        self.page.get_by_role("menuitem", name=name).click()
        expect(self.page.get_by_role("button", name=f"View: {name}")).to_be_visible()

    def toast(self, title: str) -> Locator:
        """A message in the corner."""
        return self.page.get_by_role("alert").or_(self.page.get_by_role("status")).filter(has_text=title)

    def problem(self) -> Locator:
        """What the page or the dialog says that went wrong."""
        return self.page.get_by_role("alert")

    # What holds everywhere

    def assert_accessible(self, state: str, wanted: Sequence[str] = AXE_TAGS) -> None:
        """Fail for serious findings of axe in the page as it is, once it has taken on its theme.

        `wanted` are tags or names of rules. With a modal dialog open, in the dialog alone: what it happens to cover in
        part would count as too small.
        """
        self.page.wait_for_function(SETTLED)
        modal = self.page.locator(MODAL).last
        context = MODAL if modal.count() and modal.is_visible() else None
        # Reading its half a megabyte takes as long as a small page.
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(AXE)
        violations = self.page.evaluate(AXE_RUN, [context, list(wanted)])
        serious = [
            f"{state}: {finding['id']} ({finding['impact']}): {finding['help']}\n"
            + "\n".join(node["html"][:200] + " " + node["failureSummary"][:400] for node in finding["nodes"][:4])
            for finding in violations
            if finding["impact"] in SERIOUS
        ]
        assert not serious, "\n".join(serious)

    def assert_fits(self, state: str) -> None:
        """Fail if the page as a whole has to be scrolled sideways."""
        surplus = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        try:
            # Graphs are measured anew after the window has changed its size.
            self.page.wait_for_function(f"() => {surplus} <= 0", timeout=1000 * stretched(5))
        except Error as error:
            wide = "\n".join(self.page.evaluate(OUTSIDE))
            raise AssertionError(f"{state}: {self.page.evaluate(surplus)} px too wide\n{wide}") from error

    def look_over(self, state: str, looks: tuple[Look, ...] = LOOKS) -> None:
        """Fail if what is shown cannot be read in one of the looks, or does not fit at one of four widths.

        It ends at a desk.
        """
        for size in BETWEEN:
            self.page.set_viewport_size(size)
            self.assert_fits(f"{state}, {size['width']} px")
        sizes: list[ViewportSize] = []
        for scheme, size in looks:
            self.page.emulate_media(color_scheme=scheme)
            self.page.set_viewport_size(size)
            shown = f"{state}, {scheme}, {size['width']} px"
            self.assert_fits(shown)
            self.assert_accessible(shown, AXE_RULES_OF_COLOURS if size in sizes else AXE_TAGS)
            sizes.append(size)

    def admin_calls(self) -> list[str]:
        """The AdminService methods that the page has called so far."""
        return [match[1] for request in self.requests if (match := re.search(r"AdminService/(\w+)$", request.url))]
