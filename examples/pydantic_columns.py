"""A pydantic class says which columns to fill; the rows come back as its objects, with their evidence beside them."""

from pydantic import BaseModel, Field

import tablewright as tw


class Company(BaseModel):
    founded: int = Field(description="What year was it founded?")
    employees: int | None = Field(None, description="How many employees does it have?")


table = tw.enrich([{"Company": "Brightwater Foods"}, {"Company": "Quillon"}], Company, search="sample")
for found in table.instances(Company):
    print(found.value or found.problem, "|", *[proof.quote for proof in found.evidence["founded"][:1]])
