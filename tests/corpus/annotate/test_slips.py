"""Receipts and invoices."""

from __future__ import annotations

from tablewright.corpus.annotate.annotate import categories_of, kind_of
from tablewright.corpus.parse.parsed import Parsed
from tests.corpus.annotate.reading import facts, read, rows

RECEIPT = """HARBOUR TOOLS SDN BHD
(123456-X)
NO 12, JALAN LAUT 3,
81100 JOHOR BAHRU
TEL: 07-1234567
GST ID : 000112233445
TAX INVOICE
DOC NO : CS0001  DATE: 03/04/2018
CASHIER : USER  TIME: 12:31:00
ITEM  QTY  S/PRICE  AMOUNT  TAX
E8318  2  10.50  21.00  SR
STEEL HAMMER 500G
E8319  1  4.00  4.00  SR
NAILS (BOX)
TOTAL QTY :  3  25.00
TOTAL SALES (EXCLUDING GST) :  25.00
TOTAL GST :  1.50
ROUNDING :  0.00
TOTAL SALES (INCLUSIVE OF GST) :  RM  26.50
CASH :  30.00
CHANGE :  3.50
GST SUMMARY
TAX CODE  %  AMT (RM)  TAX (RM)
SR  6  25.00  1.50
TOTAL :  25.00  1.50
THANK YOU. PLEASE COME AGAIN.
"""


def test_a_receipt_says_who_when_how_much_and_where() -> None:
    found = facts(RECEIPT, by="slip")
    assert found["Merchant"].value.raw == "HARBOUR TOOLS SDN BHD"
    assert (found["Date"].value.date, found["Date"].value.ambiguity) == ("2018-04-03", "")
    assert (found["Total"].value.number, found["Total"].value.currency) == (26.5, "MYR")
    assert found["Invoice number"].value.raw == "CS0001"
    assert found["Address"].value.raw == "NO 12, JALAN LAUT 3,\n81100 JOHOR BAHRU"
    assert found["Currency"].value.currency == "MYR"


def test_the_total_of_the_tax_summary_is_no_fact_beside_the_total() -> None:
    totals = [each for each in read(RECEIPT) if each.properties[0].label.casefold() == "total"]
    assert [each.by for each in totals] == ["slip"]
    assert facts(RECEIPT)["TOTAL GST"].value.number == 1.5


def test_items_whose_name_stands_below_the_amount() -> None:
    assert rows(RECEIPT) == [
        {"Description": "STEEL HAMMER 500G", "Quantity": "2", "Unit price": "10.50", "Amount": "21.00"},
        {"Description": "NAILS (BOX)", "Quantity": "1", "Unit price": "4.00", "Amount": "4.00"},
    ]


def test_items_whose_name_stands_above_or_beside_the_amount() -> None:
    above = "SHOP LTD\nRECEIPT\nDESCRIPTION  QTY  AMOUNT\nCAR TYRE 15\n2 X 50.00  100.00\nTOTAL  100.00\nCASH  100.00\n"
    beside = "SHOP LTD\nRECEIPT\n1  CAR TYRE 15  50.00 S\n3 x OIL FILTER @ 4.00  12.00\nTOTAL  62.00\nCASH  62.00\n"
    assert rows(above) == [{"Description": "CAR TYRE 15", "Quantity": "2", "Unit price": "50.00", "Amount": "100.00"}]
    assert rows(beside) == [
        {"Description": "CAR TYRE 15", "Quantity": "1", "Amount": "50.00"},
        {"Description": "OIL FILTER", "Quantity": "3", "Unit price": "4.00", "Amount": "12.00"},
    ]


def test_a_price_above_and_its_count_below_are_one_item() -> None:
    text = "SHOP LTD\nRECEIPT\nRED SOAP @8.50\nFM429000000  *2  17.00 ZR\nTOTAL  17.00\nCASH  20.00\nCHANGE  3.00\n"
    assert rows(text) == [{"Description": "RED SOAP", "Quantity": "2", "Unit price": "8.50", "Amount": "17.00"}]


def test_an_invoice_in_another_language_has_the_same_facts() -> None:
    text = (
        "FACTUUR\nNoordzee Boeken B.V.\nKade 5\nFactuurnummer: 993548\nFactuurdatum: 19 april 2014\n"
        "Orderdatum: 18 april 2014\nExclusief BTW  € 593,36\nTotaal  € 1.717,97\n"
    )
    found = facts(text, by="slip")
    assert found["Merchant"].value.raw == "Noordzee Boeken B.V."
    assert found["Invoice number"].value.raw == "993548"
    assert found["Date"].value.date == "2014-04-19"
    assert (found["Total"].value.number, found["Total"].value.currency) == (1717.97, "EUR")


def test_the_invoice_date_is_meant_and_not_the_date_of_the_order() -> None:
    text = (
        "Sold by: Acme Ltd\nInvoice No: A-77\nOrder Date: 15-10-2015\nInvoice Date: 20-10-2015\nTax  1.00\n"
        "Grand Total  319.00\nAmount paid  319.00\n"
    )
    assert facts(text, by="slip")["Date"].value.date == "2015-10-20"


def test_the_kinds_of_slips() -> None:
    receipt = Parsed(text=RECEIPT, media="txt")
    assert kind_of(receipt, read(RECEIPT)) == "receipt"
    assert categories_of(receipt, read(RECEIPT)) == ("short", "data-heavy")
    invoice = "Acme Ltd\nInvoice No: A-77\nDue Date: 20-10-2015\nVAT  1.00\nTotal  319.00\nBill to: Bob\n"
    assert kind_of(Parsed(text=invoice, media="pdf"), read(invoice)) == "invoice"


def test_the_date_of_an_invoice_goes_before_the_day_it_must_be_paid() -> None:
    text = (
        "Harbour Service\nFacture n°562044387 du 02 Juillet 2015\nDate limite de paiement le 05 Juillet 2015 29.99 €\n"
        "Abonnement 29.99\nTotal facture 29.99\n"
    )
    assert facts(text, by="slip")["Date"].value.date == "2015-07-02"


def test_who_is_called_like_the_website_issued_it() -> None:
    text = (
        "Global Wholesaler\nAzure Chairs\nInvoice INV/2023/8\nInvoice Date: 03/20/2023\nChair $ 112.00\n"
        "Total $ 112.00\nhttp://www.azure-chairs.example\n"
    )
    assert facts(text, by="slip")["Merchant"].value.raw == "Azure Chairs"


def test_a_dollar_is_that_of_the_country_which_the_slip_names() -> None:
    text = "Harbour Tools\nInvoice 17-A\nHammer $ 12.00\nTotal $ 12.00\n"
    assert facts(text, by="slip")["Currency"].value.ambiguity == "$ may be USD, AUD, CAD"
    assert facts(f"{text}Fremont CA 94538\n", by="slip")["Currency"].value.ambiguity == ""
