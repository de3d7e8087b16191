"""Receipts and invoices, asked about themselves."""

from __future__ import annotations

import pytest

from tablewright.table.model import Field
from tests.extraction.asking import answer, candidates

TOTAL, DATE, VENDOR = Field(name="Total", type="number"), Field(name="Date", type="date"), Field(name="Vendor")

RECEIPT = """ALDER & FINCH GROCERS LTD (104422-K)
14 Weaver Street, Millford
TAX INVOICE
03/04/2019 18:22   TILL 4
CARD EXPIRY: 30/09/2021
OAT MILK 1L          2  1.90   3.80
RYE BREAD            1  3.13   3.13
TOTAL QTY  3
SUBTOTAL             6.93
TAX 6%               0.42
TOTAL INCL. TAX      7.35
ROUNDING ADJ        -0.02
TOTAL                7.33
CASH                10.00
CHANGE               2.67
TAX SUMMARY  AMOUNT  TAX
S 6%   6.93  0.42
TOTAL  6.93  0.42
TOTAL SAVINGS  1.10
"""


def test_the_total_is_what_was_paid_after_rounding() -> None:
    assert answer(TOTAL, RECEIPT) == "7.33"


def test_the_date_is_the_first_one_that_is_not_called_something_else() -> None:
    assert answer(DATE, RECEIPT) == "03/04/2019"


def test_the_vendor_is_the_name_at_the_top_without_its_number() -> None:
    assert answer(VENDOR, RECEIPT) == "ALDER & FINCH GROCERS LTD"


def test_a_name_goes_on_where_the_next_line_is_its_legal_form() -> None:
    text = "POPLAR BOOK\nCO. (W) LTD\nINVOICE\nTOTAL  9.00\nCASH  10.00\nCHANGE  1.00"
    assert answer(VENDOR, text) == "POPLAR BOOK CO. (W) LTD"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("TOTAL  RM  50.00", "RM  50.00"),
        ("TOTAL\n50.00", "50.00"),
        ("Grand total: $1,250.00\nTotal tax: $50.00", "$1,250.00"),
        ("TOTAL 40.00\nNETT TOTAL 38.00", "38.00"),
        ("AMOUNT DUE 38.00\nTOTAL DISCOUNT 2.00", "38.00"),
        ("TOTAL SALES (EXCLUDING TAX) 36.00\nTOTAL SALES (INCLUSIVE OF TAX) 38.16", "38.16"),
    ],
)
def test_labels_of_totals_have_their_rank(lines: str, expected: str) -> None:
    assert answer(TOTAL, f"INVOICE 20\nItem one 30.00\nItem two 8.00\n{lines}\nCASHIER 2") == expected


def test_money_given_less_change_confirms_a_total() -> None:
    text = "RECEIPT\nTea  4.00\nCake  5.60\nSUBTOTAL  9.60\nCASH  10.00\nCHANGE  0.40"
    given = candidates(TOTAL, text)
    assert given[0].value == "9.60"
    without = candidates(TOTAL, text.replace("CHANGE  0.40", "CHANGE  0.10"))
    assert given[0].score > next(candidate.score for candidate in without if candidate.value == "9.60")


def test_a_slip_without_a_total_is_left_alone() -> None:
    assert answer(TOTAL, "RECEIPT\nTea  4.00\nCake  5.60\nTOTAL ITEMS  2\nTAX  0.50\nTHANK YOU") is None


@pytest.mark.parametrize(
    "label", ["Date", "Invoice date", "Date of issue"], ids=lambda label: label.replace(" ", "-").lower()
)
def test_the_due_date_is_not_the_date(label: str) -> None:
    text = f"INVOICE 7781\nDue date: 30/06/2020\n{label}: 31/05/2020\nAmount due  $90.00\nTax  $6.00"
    assert answer(Field(name="Invoice date", type="date"), text) == "31/05/2020"


def test_a_page_of_prose_is_no_slip() -> None:
    text = "The bill passed with a total of 61 votes. The tax was changed on 3 May 2011, said the cashier."
    assert all(candidate.how != "slip" for candidate in candidates(DATE, text))


def test_the_quote_is_the_line_of_the_total() -> None:
    best = candidates(TOTAL, RECEIPT)[0]
    assert RECEIPT[best.start : best.end] == "TOTAL                7.33"
