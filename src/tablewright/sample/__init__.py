"""A small world to try Tablewright on: everything in it is invented, and `truth.json` says what is true there."""

from __future__ import annotations

from tablewright.sample.documents import SampleFile, files

__all__ = ["COLUMNS", "SampleFile", "files"]

COLUMNS = (
    "Founded:number=What year was {Company} founded?",
    "Headquarters=In which city is {Company} headquartered?",
    "CEO=Who is the chief executive of {Company}?",
    "Employees:number=How many people does {Company} employ?",
)
"""What the sample's pages say of its companies."""
