"""A DataFrame in, the same DataFrame with a new column out, and the evidence beside it."""

import pandas as pd

import tablewright as tw

companies = pd.DataFrame({"Company": ["Brightwater Foods", "Kestrelworks"]}, index=["a", "b"])
table = tw.enrich(companies, {"Founded:number": "What year was {Company} founded?"}, search="sample")

print(table.to_pandas())
for source in table.evidence():
    print(source["key"], source["value"], source["quote"], sep=" | ")
