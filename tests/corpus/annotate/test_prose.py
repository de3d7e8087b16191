"""Measured quantities in sentences."""

from __future__ import annotations

from tests.corpus.annotate.reading import facts, read

MODULE = (
    "This monocrystalline module has 96 cells in series and measures 1.575 m in length by 1.082 m in width. Under "
    "standard test conditions it delivers 214.8 W (Vmp 46.6 V, Imp 4.61 A; Voc 57.3 V, Isc 4.98 A). The PTC rating is "
    "191.8 W. Power falls by 0.509 % for each degree C; the nominal operating cell temperature is 44.4 C. The module "
    "is not bifacial. It weighs 18.5 kg."
)


def test_a_described_thing_gives_its_measures() -> None:
    found = facts(MODULE)
    assert {label: each.value.si for label, each in found.items() if each.value.base} == {
        "Length": 1.575, "Width": 1.082, "Power": 214.8, "Vmp": 46.6, "Imp": 4.61, "Voc": 57.3, "Isc": 4.98,
        "PTC rating": 191.8, "Temperature coefficient of power": -0.509, "nominal operating cell temperature": 44.4,
        "Weight": 18.5,
    }  # fmt: skip
    assert found["Power"].context.startswith("Under standard test conditions it delivers")


def test_a_rate_that_falls_is_negative_and_one_that_rises_is_not() -> None:
    assert facts(MODULE)["Temperature coefficient of power"].value.unit == "%/°C"
    assert facts("Current rises by 0.05 % per degree C.")["Temperature coefficient of current"].value.si == 0.05


def test_counts_and_traits_of_a_described_thing_are_facts() -> None:
    found = facts(MODULE)
    assert found["Cells in series"].value.number == 96
    assert (found["Bifacial"].value.raw, found["Bifacial"].value.truth) == ("not bifacial", False)


def test_a_story_is_no_data() -> None:
    story = "In the 1990s Section 409A was changed. " + "The men walked for 10 years and saw 20 miles of road. " * 30
    assert read(story) == ()


def test_a_long_text_keeps_only_sentences_dense_in_measures_and_not_too_many() -> None:
    filler = "Nothing much is said in this sentence about anything at all. " * 120
    single, dense = "The mass is 5 kg. ", "The mass is 5 kg, the height is 3 m. "
    assert read(filler + single) == ()
    assert [each.properties[0].label for each in read(filler + dense)] == ["mass", "height"]
    assert len(read("The mass is 5 kg, the height is 3 m. " * 400)) <= 60 * (1 + 400 * 37 // 3_000)
