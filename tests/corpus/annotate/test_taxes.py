"""The amount before taxes, and the tax number of who issued an invoice."""

from __future__ import annotations

import pytest

from tests.corpus.annotate.reading import facts

HEAD = "Harbour Tools Ltd\nInvoice INV-2019-17\nInvoice date: 3 May 2019\n"


def net(body: str) -> str | None:
    found = facts(HEAD + body, by="slip").get("Net amount")
    return found.value.raw if found else None


@pytest.mark.parametrize(
    "body",
    [
        "Subtotal: $100.00\nTax 20%: $20.00\nTotal: $120.00\n",
        "Total HT : 100,00 €\nTVA 20% : 20,00 €\nTotal TTC : 120,00 €\n",
        "Exclusief BTW € 100,00 Subtotaal € 120,00\nBTW 20% € 20,00\nTotaal € 120,00\n",
        "Net amount 100.00\nVAT 20.00\nAmount due 120.00\n",
        "Net VAT Gross\nTotal 100.00 20.00 120.00\n",
        "Part A 60.00\nSubtotal 60.00\nPart B 40.00\nSubtotal 40.00\nSubtotal 100.00\nTax 20.00\nTotal 120.00\n",
    ],
)
def test_the_amount_before_taxes_is_known_by_its_name_or_by_the_sums(body: str) -> None:
    assert (net(body) or "").replace(",", ".") == "100.00"


def test_the_tax_is_what_stands_between_the_two_amounts() -> None:
    found = facts(f"{HEAD}Net amount 100.00\nVAT 19% 19.00\nAmount due 119.00\n", by="slip")
    assert found["Tax amount"].value.number == 19
    assert found["Total"].value.number == 119


def test_where_no_tax_is_charged_the_total_is_the_amount_before_it() -> None:
    assert net("Charges: $4.11\nTax: $0.00\nTotal: $4.11\n") == "$4.11"


def test_the_total_is_never_taken_for_the_amount_before_taxes() -> None:
    assert net("Hammer 120.00\nTotal including VAT: 120.00\n") is None


@pytest.mark.parametrize(
    ("line", "number"),
    [
        ("BTW NL810433941B01", "NL810433941B01"),
        ("USt-IdNr.: DE 123 456 789 SWIFT HELADEF1GEL", "DE 123 456 789"),
        ("N° de TVA intra communautaire: FR 604 219 388 61", "FR 604 219 388 61"),
        ("VAT Reg No: 123 4567 89", "123 4567 89"),
        ("GSTIN: 06AABCO6063D1ZQ", "06AABCO6063D1ZQ"),
    ],
)
def test_tax_numbers_are_read_as_countries_write_them(line: str, number: str) -> None:
    found = facts(f"{HEAD}Total: 120.00\n{line}\n", by="slip")
    assert found["VAT number"].value.raw == number


@pytest.mark.parametrize("line", ["Your VAT number: DE 123 456 789", "Uw BTW nummer: NL003335996B01", "VAT 20% 20.00"])
def test_the_number_of_the_customer_and_the_rate_are_not_it(line: str) -> None:
    assert "VAT number" not in facts(f"{HEAD}Total: 120.00\n{line}\n", by="slip")


def test_the_account_is_read_without_what_stands_below_it() -> None:
    found = facts(f"{HEAD}Total: 120.00\nIBAN NL50INGB0683251309\nBIC INGBNL2A\n", by="slip")
    assert found["IBAN"].value.raw == "NL50INGB0683251309"
