"""uv is told what pip is configured to use."""

from pathlib import Path

import pytest
from pip_settings import NoCounterpartError, UvOptions, read_settings, uv_options

BARE = {"SSL_CERT_FILE": "/given.pem"}
"""An environment that says where certificates are, so that the system's do not matter."""


def options(settings: dict[str, str], environment: dict[str, str] | None = None) -> UvOptions:
    return uv_options(settings, BARE | (environment or {}))


def test_the_environment_goes_before_the_install_section_and_that_before_the_global_one() -> None:
    listing = """
global.index-url='https://global.example/simple'
install.index-url='https://install.example/simple'
:env:.index-url='https://environment.example/simple'
global.timeout='60'
install.timeout='20'
global.proxy='proxy.example:3128'
freeze.timeout='5'
"""
    assert read_settings(listing) == {
        "index-url": "https://environment.example/simple",
        "timeout": "20",
        "proxy": "proxy.example:3128",
    }


def test_values_with_quotes_line_ends_and_equal_signs_are_read() -> None:
    listing = (
        "global.find-links='\\n/a\\n/b'\nglobal.index-url=\"https://me:it's=x@host/simple?a=b\"\nnonsense\nglobal.x=y"
    )
    assert read_settings(listing) == {"find-links": "\n/a\n/b", "index-url": "https://me:it's=x@host/simple?a=b"}


def test_without_configuration_uv_gets_nothing() -> None:
    assert options({}) == UvOptions()


def test_indexes_are_passed_on() -> None:
    settings = {
        "index-url": "https://one.example/simple",
        "extra-index-url": "https://two/simple\nhttps://three/simple",
    }
    assert options(settings).environment == {
        "UV_DEFAULT_INDEX": "https://one.example/simple",
        "UV_INDEX": "https://two/simple https://three/simple",
        "UV_INDEX_STRATEGY": "unsafe-best-match",
    }


@pytest.mark.parametrize("variable", ["UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_INDEX", "UV_EXTRA_INDEX_URL"])
def test_an_index_that_the_user_gave_to_uv_stays(variable: str) -> None:
    settings = {"index-url": "https://pip.example/simple", "extra-index-url": "https://other.example"}
    assert options(settings, {variable: "https://uv.example/simple"}).environment == {}


@pytest.mark.parametrize(("value", "arguments"), [("true", ("--no-index",)), ("1", ("--no-index",)), ("false", ())])
def test_no_index(value: str, arguments: tuple[str, ...]) -> None:
    assert options({"no-index": value}).arguments == arguments


def test_links_to_folders_that_do_not_exist_are_left_out(tmp_path: Path) -> None:
    settings = {"find-links": f"{tmp_path}/none\n{tmp_path} https://links.example/"}
    assert options(settings).environment == {"UV_FIND_LINKS": f"{tmp_path},https://links.example/"}


def test_certificates_proxy_hosts_and_times_are_passed_on(tmp_path: Path) -> None:
    settings = {
        "cert": "/etc/own.pem",
        "client-cert": "/etc/client.pem",
        "proxy": "user:word@proxy.example:3128",
        "trusted-host": "one.example two.example:8443",
        "default-timeout": "2.5",
        "retries": "7",
        "keyring-provider": "subprocess",
        "no-cache-dir": "true",
    }
    assert options(settings, {"HTTPS_PROXY": "http://other:1", "UV_HTTP_RETRIES": "9"}).environment == {
        "SSL_CERT_FILE": "/etc/own.pem",
        "SSL_CLIENT_CERT": "/etc/client.pem",
        "HTTP_PROXY": "http://user:word@proxy.example:3128",
        "HTTPS_PROXY": "http://user:word@proxy.example:3128",
        "UV_INSECURE_HOST": "one.example two.example:8443",
        "UV_HTTP_TIMEOUT": "3",
        "UV_KEYRING_PROVIDER": "subprocess",
        "UV_NO_CACHE": "1",
    }
    assert options({"cert": str(tmp_path)}).environment == {"SSL_CERT_DIR": str(tmp_path)}


@pytest.mark.parametrize("variable", ["REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"])
def test_certificates_that_pips_own_library_would_take(variable: str) -> None:
    assert options({}, {variable: "/etc/bundle.pem"}).environment == {"SSL_CERT_FILE": "/etc/bundle.pem"}


@pytest.mark.parametrize(
    "settings",
    [
        {"no-binary": ":all:"},
        {"only-binary": "numpy"},
        {"constraint": "/etc/constraints.txt"},
        {"target": "/opt/packages"},
        {"keyring-provider": "import"},
        {"find-links": "https://links.example/a,b"},
    ],
)
def test_a_setting_that_uv_would_not_follow_is_named(settings: dict[str, str]) -> None:
    with pytest.raises(NoCounterpartError, match=next(iter(settings))):
        options(settings)
