from __future__ import annotations

from collections import Counter
from typing import Any

import pypdfium2

from tablewright.sample.documents import sample_files
from tablewright.sample.pdf import write_pdf


def pdf_pages(content: bytes) -> list[str]:
    document = pypdfium2.PdfDocument(content)
    try:
        return [document[number].get_textpage().get_text_range() for number in range(len(document))]
    finally:
        document.close()


def test_there_are_receipts_data_sheets_and_a_manual() -> None:
    kinds = Counter(paper.kind for paper in sample_files())
    assert kinds == {"receipt": 25, "datasheet": 12, "manual": 1}
    assert len({paper.name for paper in sample_files()}) == 38
    assert Counter(paper.name.rpartition(".")[2] for paper in sample_files()) == {"txt": 29, "html": 4, "pdf": 5}


def test_the_written_pdf_files_can_be_read() -> None:
    for paper in sample_files():
        if paper.media_type == "application/pdf":
            read = "".join("".join(pdf_pages(paper.content)).split())
            words = paper.text.split()
            assert "?" not in read.replace("?", "", paper.text.count("?")), paper.name
            assert all(word in read for word in words), paper.name


def test_a_pdf_keeps_brackets_backslashes_and_accents() -> None:
    (page,) = pdf_pages(write_pdf("Title (1)", [["A (b) \\ c", "Käse für 5 €, 20 °C"]]))
    assert page.split("\r\n") == ["A (b) \\ c", "Käse für 5 €, 20 °C"]


def test_the_manual_answers_its_questions_on_the_page_the_truth_names(truth: dict[str, Any]) -> None:
    manual = truth["documents"]["manual"]
    (paper,) = [paper for paper in sample_files() if paper.name == manual["file"]]
    pages = pdf_pages(paper.content)
    assert len(pages) == manual["pages"]
    for asked in manual["questions"]:
        assert asked["quote"] in " ".join(pages[asked["page"] - 1].split()), asked["question"]


def test_the_same_files_come_every_time() -> None:
    assert sample_files() is sample_files()
