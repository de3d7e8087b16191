"""CSV and its kin: separators, quotes, line ends, ragged lines, headers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tablewright.domain.text import cell_text
from tablewright.errors import BadFile
from tablewright.formats.tables.incoming import Incoming
from tablewright.formats.tables.limits import TABLE_LIMITS
from tablewright.formats.tables.read import read_table

Put = Callable[..., Path]


def names(table: Incoming) -> list[str]:
    return [field.name for field in table.fields]


def types(table: Incoming) -> list[str]:
    return [field.type for field in table.fields]


def texts(table: Incoming) -> list[list[str]]:
    rows = [[cell_text(cell) for cell in row] for row in table.rows()]
    assert len(rows) == table.row_count
    return rows


def test_a_plain_csv_is_read(put: Put) -> None:
    table = read_table(put("Name,Founded\nAcme,1999\nBolt,2004\n", "firms.csv"))
    assert table.name == "firms"
    assert names(table) == ["Name", "Founded"]
    assert types(table) == ["text", "number"]
    assert [[cell.value for cell in row] for row in table.rows()] == [["Acme", 1999], ["Bolt", 2004]]
    assert table.warnings == ()
    assert table.key_field == ""


def test_rows_can_be_read_again(put: Put) -> None:
    table = read_table(put("a,b\n1,x\n2,y\n"))
    assert texts(table) == texts(table) == [["1", "x"], ["2", "y"]]


def test_a_file_that_changes_after_it_was_understood_is_not_imported(put: Put) -> None:
    table = read_table(put("a,b\n1,x\n"))
    put("a,b\n1,x\n2,y,z\n")
    with pytest.raises(BadFile, match="was changed"):
        list(table.rows())


@pytest.mark.parametrize("separator", [",", ";", "|", "\t"])
def test_the_separator_is_found(put: Put, separator: str) -> None:
    lines = [["Name", "City", "Size"], ["Ada", "London", "3"], ["Bob", "Paris", "12"]]
    table = read_table(put("\n".join(separator.join(line) for line in lines)))
    assert names(table) == lines[0]
    assert texts(table) == lines[1:]


def test_semicolons_with_decimal_commas(put: Put) -> None:
    table = read_table(put("Artikel;Preis;Menge\nBrot;2,50;1\nWein;1.212,90;3\n"))
    assert names(table) == ["Artikel", "Preis", "Menge"]
    assert types(table) == ["text", "number", "number"]
    assert [row[1].value for row in table.rows()] == [2.5, 1212.9]
    assert [cell_text(row[1]) for row in table.rows()] == ["2,50", "1.212,90"]


def test_decimal_commas_do_not_separate_even_without_a_header(put: Put) -> None:
    table = read_table(put("1,5;2,5;3,5\n4,5;5,5;6,5\n"), header=False)
    assert [[cell.value for cell in row] for row in table.rows()] == [[1.5, 2.5, 3.5], [4.5, 5.5, 6.5]]


@pytest.mark.parametrize("content", ["Name\nAda\nBob\n", "Name\nLovelace, Ada\nBoole, George\n", "Word\na\nb; c\nd\n"])
def test_a_single_column_stays_one(put: Put, content: str) -> None:
    table = read_table(put(content))
    assert texts(table) == [[line] for line in content.splitlines()[1:]]


def test_prose_with_commas_does_not_hide_the_semicolons(put: Put) -> None:
    table = read_table(put("Name;Note\nAda;first, of all, great\nBob;well, well\nCy;ok\n"))
    assert names(table) == ["Name", "Note"]
    assert texts(table)[0] == ["Ada", "first, of all, great"]


def test_lists_inside_a_comma_file_do_not_mislead(put: Put) -> None:
    table = read_table(put("Name,Tags,Size\nAda,a;b,1\nBob,c;d,2\n"))
    assert names(table) == ["Name", "Tags", "Size"]


def test_the_sep_line_of_excel_is_honoured(put: Put) -> None:
    table = read_table(put("sep=;\r\na;b\r\n1,5;x\r\n"))
    assert names(table) == ["a", "b"]
    assert texts(table) == [["1,5", "x"]]


def test_a_named_separator_wins(put: Put) -> None:
    assert names(read_table(put("a:b,c:d\n1:2,3:4\n"), delimiter=":")) == ["a", "b,c", "d"]


def test_a_separator_must_be_one_character(put: Put) -> None:
    with pytest.raises(BadFile, match="cannot separate"):
        read_table(put("a,b\n1,2\n"), delimiter="::")


def test_quoted_newlines_separators_and_quotes(put: Put) -> None:
    table = read_table(put('Name,Note\n"Ada, Countess","line 1\nline ""2"""\nBob,"x\r\ny"\n'))
    assert texts(table) == [["Ada, Countess", 'line 1\nline "2"'], ["Bob", "x\r\ny"]]


def test_a_space_before_the_quote(put: Put) -> None:
    table = read_table(put('Name, City\n"Lovelace, Ada", "London, UK"\n"Boole, George", "Cork, IE"\n'))
    assert texts(table) == [["Lovelace, Ada", "London, UK"], ["Boole, George", "Cork, IE"]]


def test_apostrophes_as_quotes(put: Put) -> None:
    table = read_table(put("'Name','City'\n'Lovelace, Ada','London'\n'O''Brien','Cork'\n"))
    assert texts(table) == [["Lovelace, Ada", "London"], ["O'Brien", "Cork"]]


def test_an_apostrophe_that_begins_a_word_is_no_quote(put: Put) -> None:
    table = read_table(put("Title,Year\n'Tis Pity,1633\n'Round Midnight,1944\n"))
    assert texts(table) == [["'Tis Pity", "1633"], ["'Round Midnight", "1944"]]


def test_mixed_line_ends(put: Put) -> None:
    assert texts(read_table(put("a,b\r\n1,x\r2,y\n3,z"))) == [["1", "x"], ["2", "y"], ["3", "z"]]


def test_unicode_line_separators_belong_to_the_text(put: Put) -> None:
    assert texts(read_table(put("a,b\nx\u2028y,\x0bz\nq,\x85r\n"))) == [["x\u2028y", "\x0bz"], ["q", "\x85r"]]


def test_blank_lines_and_lines_of_separators_are_no_rows(put: Put) -> None:
    assert texts(read_table(put("\n\na,b\n\n1,x\n , \n,\n2,y\n\n"))) == [["1", "x"], ["2", "y"]]


def test_short_rows_are_padded(put: Put) -> None:
    table = read_table(put("a,b,c\n1,x\n2,y,z\n"))
    assert texts(table) == [["1", "x", ""], ["2", "y", "z"]]
    assert table.warnings == ()


def test_surplus_values_get_columns_of_their_own_and_a_warning(put: Put) -> None:
    table = read_table(put('a,b\n1,x\n2,"y\ny",extra\n3,z,,more\n4,w,,\n'))
    assert names(table) == ["a", "b", "Column 3", "Column 4"]
    assert texts(table)[1:3] == [["2", "y\ny", "extra", ""], ["3", "z", "", "more"]]
    assert table.warnings == (
        "2 rows have more values than the header (the first in line 3); "
        "the surplus is kept in 'Column 3' to 'Column 4'.",
    )


def test_surplus_far_below_keeps_the_rows_above(put: Put) -> None:
    many = TABLE_LIMITS.batch_cells
    table = read_table(put("a,b\n" + "1,x\n" * many + "2,y,z\n"))
    rows = texts(table)
    assert rows[0] == ["1", "x", ""]
    assert rows[-1] == ["2", "y", "z"]
    assert f"line {many + 2}" in table.warnings[0]


def test_empty_surplus_is_dropped(put: Put) -> None:
    table = read_table(put("a,b\n1,x,,,\n2,y, ,\n"))
    assert names(table) == ["a", "b"]
    assert table.warnings == ()


def test_names_alike_are_told_apart(put: Put) -> None:
    table = read_table(put("Name,name,Name 2,NAME\na,b,c,d\n"))
    assert names(table) == ["Name", "name 3", "Name 2", "NAME 4"]
    assert "3 columns are called 'Name'" in table.warnings[0]


def test_the_second_of_two_names_is_named_in_the_warning(put: Put) -> None:
    table = read_table(put("Name,Size,Name\na,1,c\n"))
    assert table.warnings == ("2 columns are called 'Name'; the second is now 'Name 2'.",)


def test_columns_without_a_name(put: Put) -> None:
    table = read_table(put("a,,,Column 2\n1,x,,y\n"))
    assert names(table) == ["a", "Column 2 2", "Column 2"]
    assert texts(table) == [["1", "x", "y"]]


def test_names_are_cleaned(put: Put) -> None:
    table = read_table(put('" Head\r\nquarter ",{City},z\x01z\nx,y,q\n'))
    assert names(table) == ["Head quarter", "(City)", "zz"]
    assert table.warnings == (
        "The column '{City}' is now '(City)': braces mark columns in questions.",
        "The name of the column 'zz' had invisible characters; they are left out.",
    )


def test_a_long_name_is_cut_with_a_warning(put: Put) -> None:
    table = read_table(put("n" * 1000 + ",b\nx,y\n"))
    assert len(table.fields[0].name) == TABLE_LIMITS.name_characters
    assert "was cut" in table.warnings[0]


def test_a_header_alone_is_a_table_without_rows(put: Put) -> None:
    table = read_table(put("Name,City\n"))
    assert names(table) == ["Name", "City"]
    assert texts(table) == []


@pytest.mark.parametrize(
    "content",
    [
        "Acme,12\nBolt,15\n",
        "2024-01-31,x\n2024-02-01,y\n",
        "https://a.org,x\nhttps://b.org,y\n",
        "ada@x.org,x\nbob@y.org,y\n",
    ],
)
def test_a_first_line_of_values_is_refused_with_the_way_out(put: Put, content: str) -> None:
    path = put(content)
    with pytest.raises(BadFile, match="no header") as caught:
        read_table(path)
    assert "--no-header" in caught.value.advice
    table = read_table(path, header=False)
    assert names(table) == ["Column 1", "Column 2"]
    assert table.row_count == 2


@pytest.mark.parametrize(
    "content",
    [
        "Country,2020,2021\nFrance,1,2\nSpain,3,4\n",
        "Ada,London\nBob,Paris\n",
        "Day,1,2\n7,3,4\n8,5,6\n",
        "2024-01-01,2024-02-01\n5,6\n7,8\n",
    ],
)
def test_a_first_line_that_may_be_a_header_is_one(put: Put, content: str) -> None:
    assert names(read_table(put(content))) == content.splitlines()[0].split(",")


def test_text_is_kept_exactly(put: Put) -> None:
    table = read_table(put("a,b\n  padded  , x\ny,z \n"))
    assert texts(table) == [["  padded  ", " x"], ["y", "z "]]


def test_a_million_cells_are_read_in_batches(put: Put) -> None:
    table = read_table(put("a,b,c,d\n" + "x,1,2.5,yes\n" * 250_000))
    assert table.row_count == 250_000
    assert types(table) == ["text", "number", "number", "boolean"]
    assert sum(1 for _ in table.rows()) == 250_000


def test_a_value_of_nine_million_characters(put: Put) -> None:
    table = read_table(put(f'a,b\nx,"{"y" * 9_000_000}"\n'))
    assert len(texts(table)[0][1]) == 9_000_000


def test_a_csv_without_a_suffix_is_read(put: Put) -> None:
    assert names(read_table(put("a,b\nx,y\n", "data"))) == ["a", "b"]


def test_a_tsv_file_prefers_tabs(put: Put) -> None:
    assert names(read_table(put("a, b\tc, d\nx, y\tz, w\n", "t.tsv"))) == ["a, b", "c, d"]


def test_separators_inside_quotes_do_not_count(put: Put) -> None:
    assert names(read_table(put('Name,"b;c"\n'))) == ["Name", "b;c"]
    assert names(read_table(put('"a|b","c|d"\n"p|q","r|s"\n'))) == ["a|b", "c|d"]
