"""`scripts/chromium` where Chromium is there, may be installed or may not: commands of our own are the machine."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "scripts" / "chromium"
MISSING = "Chromium is not installed, so the tests of the pages are skipped (sudo apt install chromium).\n"


class Machine:
    """With no command but those that are put there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.asked = folder / "asked"
        for name in ("sh", "env", "true", "chmod", "cp"):
            found = shutil.which(name)
            assert found
            (folder / name).symlink_to(found)

    def put(self, name: str, *lines: str) -> None:
        path = self.folder / name
        path.write_text("\n".join(("#!/bin/sh", f'echo "{name} $*" >> {self.asked}', *lines)) + "\n")
        path.chmod(0o755)

    def put_apt(self, has: str) -> None:
        """Installs the package `has`, and knows no other."""
        made = self.folder / has
        self.put(
            "apt-get",
            '[ "$1" = update ] && exit 0',
            'for package; do :; done; [ "$package" = ' + has + " ] || exit 100",
            f"cp {self.folder / 'sh'} {made}; chmod +x {made}",
        )

    def run(self) -> tuple[str, str]:
        done = subprocess.run(
            ["sh", SCRIPT], env={"PATH": str(self.folder)}, capture_output=True, text=True, timeout=60, check=True
        )
        return done.stdout, done.stderr

    def calls(self) -> list[str]:
        return self.asked.read_text().splitlines() if self.asked.exists() else []


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    machine = Machine(tmp_path)
    machine.put("id", "echo 1000")
    return machine


def test_where_it_is_there_nothing_is_done(machine: Machine) -> None:
    machine.put("chromium")
    machine.put("apt-get")
    assert machine.run() == ("", "")
    assert machine.calls() == []


@pytest.mark.parametrize("package", ["chromium-headless-shell", "chromium"])
def test_root_installs_what_the_distribution_has(machine: Machine, package: str) -> None:
    machine.put("id", "echo 0")
    machine.put_apt(package)
    assert machine.run() == ("Installing Chromium for the tests of the pages …\n", "")
    assert os.access(machine.folder / package, os.X_OK)


def test_sudo_without_a_password_installs_it_too(machine: Machine) -> None:
    machine.put("sudo", '[ "$1" = -n ] && shift && exec "$@"')
    machine.put_apt("chromium")
    assert machine.run() == ("Installing Chromium for the tests of the pages …\n", "")
    assert any(call.startswith("sudo -n") and call.endswith("chromium") for call in machine.calls())


def test_where_sudo_wants_a_password_it_says_what_is_missing_and_goes_on(machine: Machine) -> None:
    machine.put("sudo", 'echo "a password is required" >&2; exit 1')
    machine.put_apt("chromium")
    assert machine.run() == ("", MISSING)


def test_where_the_installation_fails_it_says_so_and_goes_on(machine: Machine) -> None:
    machine.put("id", "echo 0")
    machine.put("apt-get", "exit 100")
    assert machine.run() == ("Installing Chromium for the tests of the pages …\n", MISSING)
