"""A folder of documents becomes a table: a row for each, and each value with its page and its quote.

`python -m tablewright.sample --papers papers` writes the folder.
"""

import tablewright as tw

table = tw.extract("papers/datasheets", ["Weight:number(kg)", "Efficiency:number(%)"])

for row in table.rows[:3]:
    print(row["File"], row["Weight"], row["Efficiency"], sep=" | ")
for source in table.evidence()[:2]:
    print(source["key"], source["column"], source["value"], source["page"], source["quote"], sep=" | ")
