from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.interfaces.api.using import Api, served_api


@pytest.fixture
def api(tmp_path: Path) -> Iterator[Api]:
    with served_api(tmp_path / "home") as used:
        yield used
