"""How much of each text a request carries, and how several texts are put into requests."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as some

from tablewright.llm.text_budget import (
    TEXT_LIMITS,
    cell_room,
    cut_text,
    extract_relevant,
    fit_texts,
    shorten_evenly,
    split_batches,
    take_fitting,
    text_room,
)

PAGE = "Acme Turbines was founded in 1987. It is headquartered in Port Merrin. Utilities buy its rotors."
FOUNDED = "Founded What year was {Company} founded?"
TEXTS = some.lists(some.text("ab \n", max_size=60), max_size=20)


def test_texts_are_shown_whole_where_they_fit_and_the_long_ones_share_what_is_left() -> None:
    short, cut = fit_texts((PAGE, "The weather was fine and nothing happened. " * 400), FOUNDED, 3_000)
    assert short == PAGE
    assert 500 < len(cut) <= 3_000 - len(short)


def test_a_long_page_is_cut_to_the_passages_that_matter() -> None:
    filler = "The weather was fine and nothing happened. " * 400
    text = f"Acme Turbines makes rotors. {filler}Acme was founded in 1987 by two sisters. {filler}"
    cut = extract_relevant(text, FOUNDED, 1_500)
    assert len(cut) <= 1_600
    assert cut.startswith("Acme Turbines makes rotors.")
    assert "founded in 1987 by two sisters" in cut


def test_of_a_long_list_the_line_of_the_row_is_shown_and_what_repeats_once() -> None:
    lines = [f"Firm {number} | town {number} | {1900 + number % 90}" for number in range(400)]
    lines[300] = "Acme Turbines | Merrin | 1987"
    text = "\n".join(f"{line}\nName | Seat | Founded in the year" for line in lines)
    cut = extract_relevant(text, FOUNDED, 1_500, "Acme Turbines")
    assert "Acme Turbines | Merrin | 1987" in cut
    assert cut[int(1_500 * TEXT_LIMITS.head_share) + 40 :].count("Founded in the year") <= 1
    assert "Merrin" not in extract_relevant(text, FOUNDED, 1_500)


def test_a_larger_window_takes_in_more_up_to_what_is_worth_paying_for() -> None:
    assert text_room(4_096) < text_room(16_000) < text_room(200_000) == text_room(1_000_000) == TEXT_LIMITS.max_text
    assert cell_room(4_096, 2) * 2 == cell_room(4_096, 1) < cell_room(16_000, 1)


def test_a_cut_text_keeps_its_lines_and_says_that_something_is_left_out() -> None:
    assert cut_text("one\ntwo", 7, "…") == "one\ntwo"
    assert cut_text("one\ntwo", 5, "…") == "one\nt…"


@given(texts=TEXTS, room=some.integers(0, 200))
def test_what_does_not_fit_together_is_left_out_from_the_end_or_shortened_alike(texts: list[str], room: int) -> None:
    taken = take_fitting(texts, room, around=2)
    assert taken == texts[: len(taken)]
    assert sum(len(text) + 2 for text in taken) <= room or not taken
    assert len(taken) == len(texts) or sum(len(text) + 2 for text in texts[: len(taken) + 1]) > room
    shown = shorten_evenly(texts, room, least=5)
    assert len(shown) == len(texts)
    assert sum(map(len, shown)) <= max(room, 5 * len(texts))


@given(texts=TEXTS, room=some.integers(1, 200), most=some.integers(1, 5))
def test_batches_lose_nothing_and_are_as_full_as_they_may_be(texts: list[str], room: int, most: int) -> None:
    made = list(split_batches(texts, len, room=room, most=most))
    assert [text for batch in made for text in batch] == texts
    assert all(made)
    for batch, following in zip(made, [*made[1:], ()], strict=False):
        size = sum(map(len, batch))
        assert len(batch) <= most
        assert size <= room or len(batch) == 1
        assert not following or len(batch) == most or size + len(following[0]) > room


def test_a_further_batch_begins_with_what_explains_its_first_item() -> None:
    lines = ("head", "a", "b", "c", "d")
    assert list(split_batches(lines, lambda line: 1, room=3, opening=lambda line: ("head",))) == [
        ("head", "a", "b"),
        ("head", "c", "d"),
    ]
