"""The forms that models answer in: providers enforce only schemas in which nothing may be left out."""

from __future__ import annotations

import importlib
import pkgutil

import pytest
from pydantic import BaseModel

from tablewright.llm import tasks

MODULES = [module.name for module in pkgutil.walk_packages(tasks.__path__, f"{tasks.__name__}.")]


@pytest.mark.parametrize("module", MODULES)
def test_nothing_of_a_reply_may_be_left_out(module: str) -> None:
    forms = [
        each
        for each in vars(importlib.import_module(module)).values()
        if isinstance(each, type) and issubclass(each, BaseModel)
    ]
    optional = [
        f"{each.__name__}.{name}" for each in forms for name, key in each.model_fields.items() if not key.is_required()
    ]
    assert optional == []
