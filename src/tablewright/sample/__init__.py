"""A small world to try Tablewright on: everything in it is invented, and `truth.json` says what is true there."""

from __future__ import annotations

from tablewright.sample.documents import SampleFile, files

__all__ = ["SampleFile", "files"]
