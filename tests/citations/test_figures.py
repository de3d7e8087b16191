"""Figures of sentences: proved by the texts they cite, or by a calculation, or not at all."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tablewright.citations.figures import find_unproved_figures, read_figures, repeat_calculation
from tablewright.citations.quotes import Unproved


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        ("It costs 1,577 dollars.", "Revenue 1,577"),
        ("It costs 1577.00 dollars.", "Revenue 1,577"),
        ("It weighs 0.0517 kg.", "mass 0.0517 kg"),
        ("Der Betrag ist 1.052,60 €.", "Total de la commande : 1 052,60 €"),
        ("The total is 1 052.60.", "Total 1052.60"),
        ("It was signed on 3 May 2021.", "Date: 2021-05-03"),
        ("It was signed on 2021-05-03.", "dated 03/05/2021"),
        ("It came on 4 March 2026: the note says so.", "Date: 04.03.2026"),
        ("Only 4 of them came.", "four of them came"),
        ("It has 2 plants.", "900 of them in the two plants"),
        ("There are no figures here.", ""),
        ("It began in 2019.", "since 12 March 2019"),
        ("It ends on 4 April 2026.", "From 4 March 2026; it ends on 4 Apr."),
        ("It ran from 3 to 5 April 2026.", "3–5 April 2026"),
        ("It ends on 4 March 2027.", "From 4 March 2026 to 4 March 2027."),
        ("It was signed on 05/03/2021.", "dated 2021-05-03"),
        ("Section 2.4.1 says so.", "see section 2.4.1"),
        ("It weighs 907.2 kg.", "mass 2,000 lb"),
        ("It runs until 22:00, on Sundays until 8 p.m.", "bis 22 Uhr, sonntags bis 20 Uhr"),
        ("It opens at 10:30 pm.", "öffnet um 22:30"),
        ("It charges in 1 hour.", "charges in about an hour"),
        ("It is 100 cm long.", "a metre long"),
        ("It plays for fifty hours.", "Battery: 50 h"),
        ("It holds half a litre.", "Capacity: 500 ml"),
        ("One of two options is a bit heavier.", "Weight: 3 kg"),
    ],
)
def test_a_figure_that_stands_in_the_text_is_proved(statement: str, text: str) -> None:
    assert find_unproved_figures(statement, [text]) == []


@pytest.mark.parametrize(
    ("statement", "text", "missing"),
    [
        ("It costs 1,578 dollars.", "Revenue 1,577", ["1,578"]),
        ("It was signed on 4 May 2021.", "Date: 2021-05-03", ["4"]),
        ("It was signed on 3 June 2021.", "Date: 2021-05-03", ["3 June 2021"]),
        ("It came on 2026-04-04.", "dated 4 March 2026", ["2026-04-04"]),
        ("It ends on 4 March 2027.", "From 4 March 2026; the budget of 2027 is open.", ["4 March 2027"]),
        ("It grew by 12 %.", "from 100 to 113", ["12"]),
        ("It weighs 950 kg.", "mass 2,000 lb", ["950"]),
        ("It runs until 23:00.", "bis 22 Uhr", ["23", "00"]),
        ("It plays for fifty hours.", "Battery: 40 h", ["50"]),
    ],
)
def test_any_other_figure_is_not(statement: str, text: str, missing: list[str]) -> None:
    assert find_unproved_figures(statement, [text]) == missing


def test_a_result_proves_a_figure_at_the_digits_that_are_written() -> None:
    result = repeat_calculation("(1,577 - 1200) / 1200 * 100", ["1,577 and 1,200"])
    assert result == pytest.approx(31.4166, abs=1e-3)
    assert isinstance(result, float)
    assert find_unproved_figures("It grew by 31.4 %.", ["1,577 and 1,200"], [result]) == []
    assert find_unproved_figures("It grew by 31.5 %.", ["1,577 and 1,200"], [result]) == ["31.5"]


@pytest.mark.parametrize(
    ("said", "missing"),
    [
        ("About £146,000 each.", []),
        ("About £146,200 each.", []),
        ("About £147,000 each.", ["147,000"]),
        ("About £150,000 each.", ["150,000"]),
        ("About £0.15 million each.", []),
        ("About £0.16 million each.", ["0.16"]),
    ],
)
def test_beside_its_calculation_a_result_may_be_a_round_number(said: str, missing: list[str]) -> None:
    result = repeat_calculation("212000000 / 1450", ["£212 million", "1,450 staff"])
    assert isinstance(result, float)
    assert find_unproved_figures(said, [], [result], round_numbers=True) == missing
    assert find_unproved_figures("About £146,000 each.", [], [result]) == ["146,000"]


@pytest.mark.parametrize(("result", "missing"), [(100_400.0, []), (99_600.0, []), (104_000.0, ["100,000"])])
def test_a_round_number_is_right_in_its_first_three_digits(result: float, missing: list[str]) -> None:
    assert find_unproved_figures("About £100,000 each.", [], [result], round_numbers=True) == missing


@pytest.mark.parametrize(
    "calculation", ["1577 - 9", "1577 ** 2", "__import__('os')", "1577 / 0", "(" * 300, "1577 -", "9 if 1 else 2"]
)
def test_a_calculation_with_foreign_figures_or_code_is_refused(calculation: str) -> None:
    with pytest.raises(Unproved, match="cannot be used"):
        repeat_calculation(calculation, ["1,577 and 0"])


@pytest.mark.parametrize(
    ("said", "text", "strange"),
    [
        ("1.700 ml", "1700 ml", []),
        ("(030) 123-4567", "030 1234567", []),
        ("+49 30 1234567", "030 1234567", ["49"]),
        ("05/03/2021", "2021-05-03", []),
        ("€1.2 billion", "1200 million euros", []),
        ("170 ml", "1700 ml", ["170"]),
        ("100% cotton", "pure cotton", ["100"]),
        ("ISO 9001 and COVID-19", "certified", ["9001"]),
        ("It costs EUR500.", "It costs EUR400.", ["500"]),
        ("It weighs 5kg, says E09.", "It weighs 4kg.", ["5"]),
        ("It came 3rd.", "It came 2nd.", ["3"]),
        ("It weighs 1.5 kg.", "It weighs 15 kg.", ["1.5"]),
        ("1. Open it. It takes 12 minutes.", "takes 12 minutes", []),
    ],
)
def test_a_figure_may_be_written_in_another_form_but_not_added(said: str, text: str, strange: list[str]) -> None:
    assert find_unproved_figures(said, (text,)) == strange


def test_an_average_divides_by_how_many_figures_were_added() -> None:
    texts = ["9800, 2950 and 1200"]
    assert repeat_calculation("(9800 + 2950 + 1200) / 3", texts) == 4650
    with pytest.raises(Unproved, match="3 is not in the quoted texts"):
        repeat_calculation("(9800 + 2950) / 3", texts)
    with pytest.raises(Unproved, match="3 is not in the quoted texts"):
        repeat_calculation("(9800 + 2950 + 1200) / (1 * 3)", texts)


@settings(max_examples=40, deadline=None)
@given(st.integers(min_value=0, max_value=6_000), st.sampled_from([" ", "\n"]))
def test_a_figure_is_proved_wherever_it_is_in_a_long_text(place: int, space: str) -> None:
    text = f"word{space}" * 1_500
    place = text.rfind(space, 0, place) + 1
    text = f"{text[:place]}since 2021-05-03 it holds 1,577 of 12 lb{space}{text[place:]}"
    assert find_unproved_figures("It holds 1577 since 3 May 2021, 5,443 g each.", [text]) == []
    assert find_unproved_figures("It holds 577 since 2 May 2021 in 7 lb.", [text]) == ["577", "2", "7"]


def test_the_sentences_of_an_answer_read_a_long_text_once() -> None:
    text = "Revenue was 1,577 in this year. " * 200
    read_figures.cache_clear()
    for year in range(2_000, 2_010):
        assert find_unproved_figures(f"It was 1577 in {year}.", [text]) == [str(year)]
    assert read_figures.cache_info().misses == 1
