"""NumPy, which comes with the extra `documents`: imported when something of it is first used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tablewright.extras import lazy

__all__ = ["NDArray", "np"]

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = lazy("numpy", "documents")
    NDArray = None  # for annotations, which nobody evaluates
