"""The responses that handlers return: exact bytes, status and headers."""

from decimal import Decimal

from starlette.responses import Response

from openspot.http.responses import body_of, json_response, page_response, respond
from openspot.http.validation import ResponseBody


class Priced(ResponseBody):
    last_price: str
    fee_rate: Decimal


ENTRY = Priced(last_price="1.50", fee_rate=Decimal("0.10"))


def parts(response: Response) -> tuple[int, bytes, dict[str, str]]:
    return response.status_code, bytes(response.body), dict(response.headers)


def test_a_response_is_json_with_the_names_of_the_wire_and_every_digit() -> None:
    assert body_of(ENTRY) == {"lastPrice": "1.50", "feeRate": "0.10"}
    body = b'{"lastPrice":"1.50","feeRate":"0.10"}'
    headers = {"content-length": "37", "content-type": "application/json"}
    assert parts(respond(ENTRY)) == (200, body, headers)
    assert parts(respond(ENTRY, 201)) == (201, body, headers)
    assert parts(json_response([])) == (200, b"[]", headers | {"content-length": "2"})


def test_a_page_names_the_cursor_of_the_next_one_and_the_last_page_none() -> None:
    headers = {"content-length": "5", "content-type": "application/json"}
    assert parts(page_response([1, 2], None)) == (200, b"[1,2]", headers)
    assert parts(page_response([1, 2], "abc")) == (200, b"[1,2]", headers | {"x-next-cursor": "abc"})
