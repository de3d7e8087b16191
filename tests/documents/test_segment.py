from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablewright.documents.segment import SEGMENT_LIMITS, estimate_segment_tokens, split_into_segments
from tablewright.documents.summarise import SUMMARY_WORDS, split_macro_chunks, summarise_segments
from tablewright.domain.documents import Segment
from tablewright.extraction.layout.draft import Parsed
from tablewright.llm.tokens import estimate_tokens
from tests.growth import grows_in_proportion


def paragraph(words: int, word: str = "word") -> str:
    return " ".join(f"{word}{number}." if number % 12 == 11 else f"{word}{number}" for number in range(words))


def test_a_segment_is_whole_paragraphs_of_one_page() -> None:
    first, second = "\n\n".join(paragraph(60) for _ in range(6)), "\n\n".join(paragraph(60, "other") for _ in range(2))
    parsed = Parsed(text=f"{first}\n\n{second}", media="pdf", page_starts=(0, len(first) + 2))
    segments = split_into_segments(parsed)
    assert [(len(part.text.split()), part.page) for part in segments] == [(180, 1), (180, 1), (120, 2)]
    assert all(part.text == parsed.text[part.start : part.end] for part in segments)
    assert [part.number for part in segments] == [0, 1, 2]


def test_a_heading_begins_a_segment_and_names_those_under_it() -> None:
    text = f"Safety\n{paragraph(100)}\n\nMounting\n{paragraph(200)}\n\n{paragraph(200)}"
    headings = tuple((text.index(name), text.index(name) + len(name)) for name in ("Safety", "Mounting"))
    segments = split_into_segments(Parsed(text=text, media="docx", headings=headings))
    assert [part.heading for part in segments] == ["Safety", "Mounting", "Mounting"]
    assert segments[1].text.startswith("Mounting\nword0")


def test_a_markdown_heading_is_one() -> None:
    segments = split_into_segments(Parsed(text=f"# One\n{paragraph(60)}\n\n## Two #\n{paragraph(60)}", media="md"))
    assert [part.heading for part in segments] == ["One", "Two"]


def test_a_long_paragraph_is_cut_between_sentences() -> None:
    segments = split_into_segments(Parsed(text=paragraph(1000), media="txt"))
    assert all(SEGMENT_LIMITS.enough_words <= len(part.text.split()) <= SEGMENT_LIMITS.words for part in segments[:-1])
    assert all(part.text.endswith(".") for part in segments[:-1])


def test_a_few_last_words_of_a_page_are_no_segment_of_their_own() -> None:
    segments = split_into_segments(Parsed(text=f"{paragraph(280)}\n\n{paragraph(280)}\n\nPage 7 of 9", media="pdf"))
    assert [part.text.endswith("Page 7 of 9") for part in segments] == [False, True]
    halves = split_into_segments(Parsed(text=paragraph(301), media="txt"))
    assert [len(part.text.split()) for part in halves] == [192, 109]


def test_a_text_without_spaces_or_sentences_is_cut_too() -> None:
    segments = split_into_segments(Parsed(text="x" * 100_000, media="txt"))
    assert "".join(part.text for part in segments) == "x" * 100_000
    assert max(len(part.text) for part in segments) <= SEGMENT_LIMITS.characters


@pytest.mark.parametrize(
    ("line", "most"),
    [
        pytest.param("a[" * 50_000, SEGMENT_LIMITS.tokens, id="marks between letters"),
        pytest.param("[" * 50_000, SEGMENT_LIMITS.tokens, id="marks alone"),
        pytest.param("12.5|" * 20_000, SEGMENT_LIMITS.characters, id="numbers and lines"),
        pytest.param("www.example.com/a/b/" * 5_000, SEGMENT_LIMITS.characters, id="an endless address"),
        pytest.param("这台逆变器把太阳能电池板的直流电转换成交流电" * 2_000, 2 * SEGMENT_LIMITS.words, id="Chinese"),
        pytest.param("ソーラーパネルは晴れた日に最もよく発電します" * 2_000, 2 * SEGMENT_LIMITS.words, id="Japanese"),
        pytest.param("แผงโซลาร์เซลล์ผลิตไฟฟ้าได้ดีที่สุดในวันที่แดดออก" * 2_000, 5 * SEGMENT_LIMITS.words, id="Thai"),
        pytest.param("😀" * 50_000, SEGMENT_LIMITS.tokens, id="pictures"),
        pytest.param(("a" + " " * 3_000) * 100, SEGMENT_LIMITS.characters, id="more space than words"),
    ],
)
def test_no_segment_is_longer_than_it_may_be_whatever_the_text_is(line: str, most: int) -> None:
    segments = split_into_segments(Parsed(text=line, media="txt"))
    assert max(len(part.text) for part in segments) <= most
    assert max(estimate_segment_tokens(part.text, 0, len(part.text)) for part in segments) <= SEGMENT_LIMITS.tokens
    assert len(segments) <= 2 + 2 * len(line) // min(most, 1_000)
    assert "".join("".join(part.text.split()) for part in segments) == "".join(line.split())


@pytest.mark.parametrize(
    "sentence",
    [
        "这台逆变器必须始终保持干燥。",
        "太陽電池を濡らさないでください！",
        "必须保持干燥吗？",
        "他说：“保持干燥。”",
        "इन्वर्टर को सूखा रखें। ",
    ],
)
def test_a_text_without_spaces_is_cut_at_the_marks_between_sentences(sentence: str) -> None:
    segments = split_into_segments(Parsed(text=sentence * 500, media="txt"))
    assert len(segments) > 5
    assert all(part.text.endswith(sentence.strip()[-2:]) for part in segments)


LETTERS = st.sampled_from(
    ["word", "end.", "\n", "\n\n", " ", "東", "。", "ไทย", "a[", "😀", "# head\n", "\t", "x" * 90]
)


@given(st.lists(LETTERS, max_size=900), st.sampled_from(["", " "]), st.integers(1, 9))
def test_nothing_but_space_is_left_out(parts: list[str], between: str, times: int) -> None:
    text = between.join(parts) * times
    pages = (0, len(text) // 2) if len(text) > 10 else ()
    segments = split_into_segments(Parsed(text=text, media="md", page_starts=pages))
    assert all(len(part.text) <= SEGMENT_LIMITS.characters for part in segments)
    at = 0
    for segment in segments:
        assert text[at : segment.start].strip() == ""
        assert segment.text == text[segment.start : segment.end] != ""
        at = segment.end
    assert text[at:].strip() == ""


def test_a_long_document_has_a_summary_for_each_macro_chunk() -> None:
    parsed = Parsed(text="\n\n".join(paragraph(200) for _ in range(200)), media="txt", title="Words")
    segments = split_into_segments(parsed)
    sizes = [
        sum(estimate_tokens(part.text) for part in chunk)
        for chunk in split_macro_chunks(segments, estimate_tokens(parsed.text))
    ]
    assert len(sizes) > 1
    assert all(10_000 <= size <= 20_000 for size in sizes)
    summaries = summarise_segments(parsed, segments)
    assert [summary.first for summary in summaries[1:]] == [summary.last + 1 for summary in summaries[:-1]]
    assert (summaries[0].first, summaries[-1].last) == (0, len(segments) - 1)


def test_a_summary_says_what_the_text_is_about_in_its_own_sentences() -> None:
    about = "The inverter converts the direct current of the panels into alternating current."
    other = "A squirrel was seen on the roof of the house in the morning."
    text = f"{other} {about} The current of the panels depends on the sun. The inverter must be kept dry at all times."
    parsed = Parsed(text=f"{text}\n\n{'12.5 | 33 | kW ' * 40}", media="txt", title="Inverter manual")
    (summary,) = summarise_segments(parsed, split_into_segments(parsed))
    assert summary.text.startswith("Inverter manual. ")
    assert about in summary.text
    assert "12.5" not in summary.text
    assert len(summary.text.split()) <= SUMMARY_WORDS


def test_a_table_without_sentences_has_its_beginning_for_a_summary() -> None:
    parsed = Parsed(text="Item 1 | 12.50\n" * 300, media="csv")
    (summary,) = summarise_segments(parsed, split_into_segments(parsed))
    assert summary.text.startswith("Item 1 | 12.50 Item 1")
    assert len(summary.text.split()) <= SUMMARY_WORDS


def test_nothing_has_no_segments_and_no_summaries() -> None:
    empty: tuple[Segment, ...] = split_into_segments(Parsed(text=" \n\n ", media="txt"))
    assert empty == ()
    assert summarise_segments(Parsed(text="", media="txt"), empty) == ()


def test_cutting_takes_time_in_proportion_to_the_text() -> None:
    assert grows_in_proportion(
        lambda size: split_into_segments(Parsed(text="a[" * (size // 2), media="txt")), 2_000_000
    )
