"""The columns of a table."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, ConfigDict, StringConstraints
from pydantic import Field as Value

from tablewright.domain.fieldspec import checked_name
from tablewright.domain.model import Field, FieldType, Role
from tablewright.doors.api.inputs import Body, Name, Text


def usable(name: str) -> str:
    if not name.strip() or any(not each.isprintable() or each in "{}" for each in name):
        raise ValueError("A column's name has no braces and no control characters, and is not empty.")
    return name.strip()


ColumnName = Annotated[str, StringConstraints(min_length=1, max_length=300), AfterValidator(usable)]


class AskedField(Body):
    """A column. A `question` may name others of the row in braces; a formula is computed."""

    name: ColumnName
    type: FieldType = "text"
    question: Text = ""
    description: Text = ""
    unit: Name = ""
    options: list[Name] = Value([], max_length=1_000, description="What a `select` may be.")
    required: bool = False
    role: Role = "standard"
    depends_on: list[Name] = Value([], max_length=100, description="The columns whose change makes it stale.")

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"name": "Founded", "type": "number", "question": "What year was {Company} founded?"}]
        },
    )

    def field(self) -> Field:
        return Field(
            name=checked_name(self.name, self.name),
            type=self.type,
            question=self.question.strip(),
            description=self.description.strip(),
            unit=self.unit.strip(),
            options=tuple(self.options),
            required=self.required,
            role=self.role,
            depends_on=tuple(self.depends_on),
        )
