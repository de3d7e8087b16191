"""What we are made of can be listed, and may be given away together with our own code."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

ROOT = Path(__file__).parents[1]
DIRECT = {"fastapi", "lxml", "pydantic", "sqlalchemy", "typer"}


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "scripts" / "sbom.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_bill_of_materials_is_valid_and_names_what_the_lock_names() -> None:
    done = run()
    assert done.returncode == 0, done.stderr
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(done.stdout) is None
    bill = json.loads(done.stdout)
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    names = {line.split("==")[0] for line in lock.splitlines() if "==" in line and not line.startswith(" ")}
    assert {component["name"] for component in bill["components"]} == names
    needs = {entry["ref"]: entry.get("dependsOn", []) for entry in bill["dependencies"]}
    assert {ref.split("/")[1].split("@")[0] for ref in needs["tablewright"]} >= DIRECT


def test_what_is_installed_is_the_lock_with_its_hashes() -> None:
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    packages = re.split(r"^(?=[\w.-]+==)", lock, flags=re.MULTILINE)[1:]
    assert packages
    assert [package.split()[0] for package in packages if "--hash=sha256:" not in package] == []
    for installs in ("scripts/setup", "Dockerfile"):
        text = (ROOT / installs).read_text(encoding="utf-8")
        assert [
            line for line in text.splitlines() if "pip install" in line and "-r " in line and "--require-h" not in line
        ] == []
        assert "--require-hashes -r" in text
    assert "scripts/setup requirements.lock" in (ROOT / "Makefile").read_text(encoding="utf-8")


def test_every_package_has_a_licence_that_ours_can_be_distributed_with() -> None:
    done = run("--licences")
    assert done.returncode == 0, done.stderr
    rows = dict(line.split("\t")[::2] for line in done.stdout.splitlines())
    assert rows["fastapi"] == "MIT"
    assert "unknown" not in rows.values()


@pytest.mark.parametrize("licence", ["GPL-3.0-only", "AGPL-3.0-or-later AND MIT", "Our own terms"])
def test_a_package_with_another_licence_is_named(tmp_path: Path, licence: str, monkeypatch: pytest.MonkeyPatch) -> None:
    about = tmp_path / "strict-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.4\nName: strict\nVersion: 1.0\nLicense: {licence}\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    (tmp_path / "lock").write_text("strict==1.0\n")
    done = run("--licences", "--lock", str(tmp_path / "lock"))
    assert done.returncode == 1
    assert done.stderr.startswith("strict 1.0 has the licence ")
