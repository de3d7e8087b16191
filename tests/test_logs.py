"""What servers and workers log."""

from __future__ import annotations

import json
import logging
import re
import sys
from collections.abc import Sequence

import pytest

from tablewright.errors import ModelUnavailable, SearchError
from tablewright.llm.model import LanguageModel
from tablewright.llm.providers import openai
from tablewright.llm.retry import Retrying
from tablewright.llm.spec import Access
from tablewright.llm.structured_output import StructuredOutput
from tablewright.logs import MAX_RECORD_CHARACTERS, JsonFormatter, RedactingFormatter
from tablewright.observe import Availability, working_on
from tablewright.settings import Settings
from tablewright.web.search.provider import RetryingSearch
from tablewright.web.source import Hit, Query
from tests.llm.conftest import Founded
from tests.llm.endpoint import answer, refusal, running_endpoint


def record(message: str, *args: object, level: int = logging.WARNING) -> logging.LogRecord:
    return logging.LogRecord("tablewright.engine.runs", level, "", 1, message, args, None)


def test_a_line_has_its_time_level_place_and_run() -> None:
    shown = RedactingFormatter(Settings())
    line = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z WARNING tablewright\.engine\.runs: 3 rows left"
    assert re.fullmatch(line, shown.format(record("%d rows left", 3)))
    with working_on("r1234"):
        assert "WARNING tablewright.engine.runs run=r1234: 3 rows left" in shown.format(record("%d rows left", 3))
        said = json.loads(JsonFormatter(Settings()).format(record("%d rows left", 3)))
    named = record("It ended.")
    named.run = "r5678"
    assert "tablewright.engine.runs run=r5678: It ended." in shown.format(named)
    assert said.pop("at").endswith("Z")
    assert said == {"level": "warning", "logger": "tablewright.engine.runs", "run": "r1234", "message": "3 rows left"}


@pytest.mark.parametrize("form", [RedactingFormatter, JsonFormatter])
def test_a_value_from_the_web_can_neither_command_a_terminal_nor_pass_for_another_line(
    form: type[RedactingFormatter],
) -> None:
    hostile = "\x1b]0;owned\x07\x9b2J\u202e\n2026-01-01T00:00:00.000Z INFO tablewright.server: all is well"
    line = form(Settings()).format(record("Cannot read %s", hostile))
    assert not set("\x1b\x07\x9b\u202e") & set(line)
    assert not any(each.startswith("2026-01-01") for each in line.split("\n"))


@pytest.mark.parametrize("form", [RedactingFormatter, JsonFormatter])
def test_no_secret_is_logged_however_it_is_written(
    form: type[RedactingFormatter], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://ann:pr0xypass@proxy.example:3128")
    settings = Settings(model_api_key="m0delkey", search="searxng:https://ann:s3archpass@find.example")
    try:
        raise OSError("cannot reach https://ann:s3archpass@find.example/search?api_key=oth3rkey")
    except OSError:
        logged = record("Key m0delkey, login s3archpass, proxy pr0xypass, Bearer b3arer, https://u:unkn0wn@x.example")
        logged.exc_info = sys.exc_info()
    line = form(settings).format(logged)
    assert "OSError" in line
    assert not any(
        secret in line for secret in ("m0delkey", "s3archpass", "pr0xypass", "b3arer", "unkn0wn", "oth3rkey")
    )


# ── outages and recoveries ───────────────────────────────────────────────────────────────────────────────────────────


async def no_wait(_: float) -> None:
    return None


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [each.getMessage() for each in caplog.records if each.name == "tablewright.observe"]


async def test_an_outage_of_a_model_and_its_recovery_are_a_line_each(caplog: pytest.LogCaptureFixture) -> None:
    async with running_endpoint() as endpoint:
        model = Retrying(StructuredOutput(openai("outage-of-a-model", Access(base_url=endpoint.url))), sleep=no_wait)
        async with LanguageModel(model, name="test") as asked:

            async def ask() -> Founded:
                return await asked.ask(instructions="Read.", prompt="Founded in 1987.", output=Founded)

            endpoint.otherwise = refusal(503, "busy")
            for _ in range(3):
                with pytest.raises(ModelUnavailable):
                    await ask()
            assert len(lines(caplog)) == 1
            assert re.match(r"Outage: the model \S*outage-of-a-model does not answer: .*503", lines(caplog)[0])
            endpoint.otherwise = answer({"year": 1987})
            await ask()
            await ask()
    assert len(lines(caplog)) == 2
    assert re.match(r"Recovered: the model \S*outage-of-a-model answers again after \d+\.\d s\.", lines(caplog)[1])


class Flaky:
    name = "outage-of-a-search"

    def __init__(self) -> None:
        self.is_down = True

    async def search(self, query: Query) -> Sequence[Hit]:
        if self.is_down:
            raise SearchError("It is closed for today.", retryable=True)
        return (Hit(origin="https://a.example/", title="A", snippet="a"),)


async def test_an_outage_of_a_search_and_its_recovery_are_a_line_each(caplog: pytest.LogCaptureFixture) -> None:
    provider = Flaky()
    searching = RetryingSearch(provider, sleep=no_wait)
    for _ in range(2):
        with pytest.raises(SearchError):
            await searching.search(Query(text="a"))
    provider.is_down = False
    await searching.search(Query(text="a"))
    outage, recovery = lines(caplog)
    assert outage == "Outage: the search outage-of-a-search does not answer: It is closed for today."
    assert recovery.startswith("Recovered: the search outage-of-a-search answers again after ")


def test_a_recovery_says_how_long_the_outage_was(caplog: pytest.LogCaptureFixture) -> None:
    now = 100.0
    provider = Availability("model", "x", lambda: now)
    provider.answered()
    provider.failed("refused")
    now = 193.25
    provider.answered()
    assert lines(caplog)[-1] == "Recovered: the model x answers again after 93.2 s."


def test_a_record_of_any_length_is_a_line_of_bounded_length() -> None:
    line = RedactingFormatter(Settings()).format(record("%s", "x" * 100_000))
    assert len(line) < MAX_RECORD_CHARACTERS + 200
    assert line.endswith("… (92,000 characters more)")
