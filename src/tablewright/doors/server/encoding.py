"""Texts in requests are UTF-8 and nothing else.

A body in another encoding would be guessed at by one library and taken for UTF-8 by the next, and what the first let
through would be another text to the second.
"""

from __future__ import annotations

import codecs
from email.message import Message

from starlette.datastructures import Headers

from tablewright.doors.server.errors import BadEncoding

UTF_8 = frozenset({"utf-8", "utf8", "us-ascii", "ascii"})
ADVICE = "Send UTF-8, uncompressed."
NOT_UTF_8 = BadEncoding("The text of the request is not UTF-8.", kept="Nothing was changed.", advice=ADVICE)


def check_headers(headers: Headers) -> None:
    said = Message()
    said["content-type"] = headers.get("content-type", "")
    charset = str(said.get_param("charset", "utf-8")).strip().lower()
    if charset not in UTF_8:
        raise BadEncoding("This server reads no other text encoding than UTF-8.", advice=ADVICE)
    if headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
        raise BadEncoding("This server reads no compressed requests.", advice=ADVICE)


class Utf8:
    """Looks at a body as it arrives. A zero byte is in no text that we take, and in every text of UTF-16."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")()

    def accepts(self, part: bytes, *, last: bool) -> bool:
        try:
            self._decoder.decode(part, last)
        except UnicodeDecodeError:
            return False
        return b"\0" not in part
