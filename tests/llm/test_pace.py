from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest

from tablewright.llm.pace import AHEAD_SECONDS, LATE_SECONDS, USED_SHARE, LocalSlots, Pace, take_slot
from tablewright.llm.rate_limit import CREDIT_SECONDS, RateLimits, RateWindow, SharedRateWindow
from tests.llm.conftest import Naps


class Late(LocalSlots):
    """Answers so many seconds late, one entry an answer."""

    def __init__(self, naps: Naps, *late: float) -> None:
        super().__init__(naps.clock)
        self._naps = naps
        self.late = list(late)

    async def reserve(self, key: str, interval: float, *, refund: float = 0.0, credit: float = 0.0) -> float:
        wait = await super().reserve(key, interval, refund=refund, credit=credit)
        late = self.late.pop(0)
        self._naps.now += late
        return wait - late


class Counting(LocalSlots):
    """Counts those who took a slot and wait for it."""

    def __init__(self) -> None:
        super().__init__()
        self.reserved = 0

    async def reserve(self, key: str, interval: float, *, refund: float = 0.0, credit: float = 0.0) -> float:
        self.reserved += 1
        return await super().reserve(key, interval, refund=refund, credit=credit)


async def test_those_who_share_slots_start_evenly_spaced_and_stay_within_the_limit(naps: Naps) -> None:
    slots = LocalSlots(naps.clock)
    workers = [Pace(slots, "k", 0.1, naps.clock, naps.sleep) for _ in range(2)]
    starts = []
    for worker in [*workers] * 3:
        await worker.wait_turn()
        starts.append(naps.now)
    assert [later - earlier for earlier, later in pairwise(starts)] == pytest.approx([10 / USED_SHARE] * 5)


async def test_a_slot_that_was_missed_is_given_up_for_the_next(naps: Naps) -> None:
    slots = Late(naps, 0.4, 0.0)
    await take_slot(slots, "k", 0.2, naps.clock, naps.sleep)
    assert slots.late == []
    await take_slot(slots := Late(naps, LATE_SECONDS * 0.9), "k", 0.2, naps.clock, naps.sleep)
    assert slots.late == []


async def test_who_is_always_late_goes_on_nevertheless(naps: Naps) -> None:
    slots = Late(naps, *[0.3] * 10)
    await take_slot(slots, "k", 0.2, naps.clock, naps.sleep)
    assert len(slots.late) == 6


async def test_a_process_holds_no_more_than_the_next_moments_slots() -> None:
    slots = Counting()
    pace = Pace(slots, "k", 20)
    await pace.wait_turn()
    waiting = [asyncio.create_task(pace.wait_turn()) for _ in range(50)]
    await asyncio.sleep(0)
    held = slots.reserved - 1
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    assert held == int(AHEAD_SECONDS * 20 * USED_SHARE)


async def test_tokens_of_all_processes_count_and_a_minute_never_has_more(naps: Naps) -> None:
    slots = LocalSlots(naps.clock)
    windows = [SharedRateWindow("openai", None, 600, slots, naps.clock, naps.sleep) for _ in range(2)]
    began = []
    for number in range(40):
        await windows[number % 2].wait_turn(30)
        began.append(naps.now)
    in_a_minute = [sum(30 for at in began if start <= at < start + 60) for start in began]
    assert 540 <= max(in_a_minute[:15]) <= 600 + 30
    assert began[-1] - began[0] == pytest.approx(39 * 30 / 600 * 60 / USED_SHARE - CREDIT_SECONDS)


async def test_tokens_that_an_answer_did_not_need_are_given_to_the_next_requests(naps: Naps) -> None:
    window = SharedRateWindow("openai", None, 600, LocalSlots(naps.clock), naps.clock, naps.sleep)
    began = naps.now
    for _ in range(20):
        turn = await window.wait_turn(300)
        window.settle(turn, 30)
    assert naps.now - began < 20 * 30 / 600 * 60 / USED_SHARE + 1


async def test_a_request_that_alone_is_above_the_limit_takes_a_minute(naps: Naps) -> None:
    window = SharedRateWindow("openai", None, 100, LocalSlots(naps.clock), naps.clock, naps.sleep)
    await window.wait_turn(5_000)
    await window.wait_turn(1)
    assert sum(naps.taken) == pytest.approx(60)


async def test_requests_and_tokens_hold_together(naps: Naps) -> None:
    window = SharedRateWindow("openai", 60, 600, LocalSlots(naps.clock), naps.clock, naps.sleep)
    starts = []
    for tokens in (1, 1, 1, 200, 1):
        await window.wait_turn(tokens)
        starts.append(naps.now)
    gaps = [later - earlier for earlier, later in pairwise(starts)]
    assert gaps[:3] == pytest.approx([1 / USED_SHARE] * 3)
    assert gaps[3] > 10


async def test_each_provider_has_its_own_limits_under_its_own_name(naps: Naps) -> None:
    slots = LocalSlots(naps.clock)
    limits, of_another_process = (RateLimits(6, None, naps.clock, naps.sleep, slots) for _ in range(2))
    await limits.window_for("openai").wait_turn(0)
    await limits.window_for("anthropic").wait_turn(0)
    assert naps.taken == []
    await of_another_process.window_for("openai").wait_turn(0)
    assert naps.taken == pytest.approx([10 / USED_SHARE])


async def test_without_slots_a_process_counts_for_itself_and_may_start_all_at_once(naps: Naps) -> None:
    limits = RateLimits(6, None, naps.clock, naps.sleep)
    window = limits.window_for("openai")
    assert isinstance(window, RateWindow)
    for _ in range(6):
        await window.wait_turn(0)
    assert naps.taken == []
