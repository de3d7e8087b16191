"""The columns of a table."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, ConfigDict, StringConstraints
from pydantic import Field as Value

from tablewright.domain.edits import AddField, ChangeField, RemoveField
from tablewright.domain.fieldspec import checked_name
from tablewright.domain.model import Field, FieldType, Role
from tablewright.doors.api.answers import Json
from tablewright.doors.api.inputs import Body, FieldName, Name, TableId, Text, resource
from tablewright.doors.api.rows import Changed
from tablewright.doors.api.schemas import described
from tablewright.doors.api.visible import seen_table
from tablewright.doors.server.context import Visiting

router = resource("fields")


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


@router.post("/tables/{table_id}/fields", status_code=201, response_model=described(Changed))
async def add_field(visit: Visiting, table_id: TableId, asked: AskedField) -> Json:
    """Adds a column at the end, empty in every row."""
    visit.must_change()
    table = await seen_table(visit, table_id)
    change = await visit.tablewright.changes.edit(
        table.id, [AddField(field=asked.field())], f"added column {asked.name}"
    )
    return Json(Changed(change=change), 201)


@router.put("/tables/{table_id}/fields/{field:path}", response_model=described(Changed))
async def change_field(visit: Visiting, table_id: TableId, field: FieldName, asked: AskedField) -> Json:
    """Changes the definition of a column. Renaming it keeps its cells."""
    visit.must_change()
    table = await seen_table(visit, table_id)
    old = table.require_field(field)
    edit = ChangeField(name=old.name, field=asked.field())
    return Json(Changed(change=await visit.tablewright.changes.edit(table.id, [edit], f"changed column {old.name}")))


@router.delete("/tables/{table_id}/fields/{field:path}", response_model=described(Changed))
async def remove_field(visit: Visiting, table_id: TableId, field: FieldName) -> Json:
    """Removes a column with its cells; undoing the change restores them."""
    visit.must_change()
    table = await seen_table(visit, table_id)
    old = table.require_field(field)
    change = await visit.tablewright.changes.edit(table.id, [RemoveField(name=old.name)], f"removed column {old.name}")
    return Json(Changed(change=change))
