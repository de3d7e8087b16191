"""NumPy, which comes with the extra `documents`: imported when it is first used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tablewright.extras import LazyModule

__all__ = ["NDArray", "np"]

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = LazyModule("numpy", "documents")
    # For annotations, which are never evaluated.
    NDArray = None
