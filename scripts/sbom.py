"""What an installed Tablewright is made of: every package that requirements.lock names, with its licence.

    python scripts/sbom.py                  # the bill of materials, as CycloneDX JSON, on standard output
    python scripts/sbom.py --licences       # one line a package: name, version, licence

Ends with 1, and says which, where a package has a licence that ours (Apache-2.0) cannot be distributed with.
Licences come from the metadata of the installed packages; what the lock names for other systems only has none here.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from license_expression import ExpressionError, LicenseSymbol, get_spdx_licensing
from packageurl import PackageURL
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
SPDX = get_spdx_licensing()

# The last line asks that changes to those packages themselves are shared. We use them as they are.
COMPATIBLE = frozenset(
    """
    0BSD Apache-2.0 BSD-2-Clause BSD-3-Clause CC0-1.0 CNRI-Python ISC MIT MIT-0 PSF-2.0 Python-2.0 Unlicense Zlib
    MPL-2.0 LGPL-3.0-only LGPL-3.0-or-later
    """.split()
)

CLASSIFIERS = {
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD-3-Clause",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
# Where the metadata holds a text, or several licences of which not all are for the package.
LOOKED_UP = {
    "docutils": "CC0-1.0 AND BSD-2-Clause AND PSF-2.0",  # its GPL is for an Emacs mode, which is not in the package
    "pypdfium2": "Apache-2.0 OR BSD-3-Clause",
    "tiktoken": "MIT",
    "wordllama": "MIT",
}


@dataclass(frozen=True)
class Package:
    name: str
    version: str
    licence: str
    """An SPDX expression, empty if unknown."""
    needs: frozenset[str]
    applies: bool
    """Whether it is installed on a system like this one."""

    @property
    def purl(self) -> PackageURL:
        return PackageURL("pypi", name=self.name, version=self.version)

    @property
    def is_compatible(self) -> bool:
        return bool(self.licence) and is_compatible(parsed(self.licence))


def locked(lock: Path) -> list[Package]:
    lines = re.findall(r"^[a-z0-9][^\\\n]*", lock.read_text(encoding="utf-8"), re.MULTILINE)
    packages = {}
    for requirement in map(Requirement, lines):
        name, (pinned,) = canonicalize_name(requirement.name), requirement.specifier
        applies = requirement.marker is None or requirement.marker.evaluate()
        if applies or name not in packages:
            packages[name] = package(name, pinned.version, applies)
    return sorted(packages.values(), key=lambda each: each.name)


def package(name: str, version: str, applies: bool) -> Package:
    try:
        found = distribution(name)
    except PackageNotFoundError:
        if applies:
            raise
        return Package(name, version, "", frozenset(), applies)
    needs = (Requirement(line) for line in found.requires or ())
    names = {canonicalize_name(each.name) for each in needs if each.marker is None or each.marker.evaluate()}
    return Package(name, version, LOOKED_UP.get(name) or licence_of(found), frozenset(names), applies)


def licence_of(found: Distribution) -> str:
    about = found.metadata
    for said in (about["License-Expression"], about["License"]):
        if said and parsed(said) is not None:
            return str(said)
    trove = [line.rpartition(" :: ")[2] for line in about.get_all("Classifier", []) if line.startswith("License ::")]
    known = [CLASSIFIERS.get(each, "") for each in trove or [about["License"]]]
    return " AND ".join(known) if all(known) else ""


def parsed(expression: str) -> object | None:
    try:
        return SPDX.parse(expression, validate=True)
    except ExpressionError:
        return None


def is_compatible(expression: object | None) -> bool:
    """Of alternatives, one has to be; of what holds together, all."""
    if isinstance(expression, SPDX.AND):
        return all(map(is_compatible, expression.args))
    if isinstance(expression, SPDX.OR):
        return any(map(is_compatible, expression.args))
    return isinstance(expression, LicenseSymbol) and expression.key in COMPATIBLE


def bill_of_materials(packages: Sequence[Package]) -> Bom:
    licences = LicenseFactory()
    bom = Bom()
    ours = distribution("tablewright")
    bom.metadata.component = root = Component(
        type=ComponentType.APPLICATION,
        name="tablewright",
        version=ours.version,
        bom_ref="tablewright",
        licenses=[licences.make_from_string("Apache-2.0")],
    )
    components = {
        each.name: Component(
            type=ComponentType.LIBRARY,
            name=each.name,
            version=each.version,
            purl=each.purl,
            bom_ref=str(each.purl),
            licenses=[licences.make_from_string(each.licence)] if each.licence else [],
        )
        for each in packages
    }
    for component in components.values():
        bom.components.add(component)
    direct = {canonicalize_name(Requirement(line).name) for line in ours.requires or ()}  # of the extras too
    bom.register_dependency(root, [components[name] for name in sorted(direct & components.keys())])
    for each in packages:
        bom.register_dependency(
            components[each.name], [components[name] for name in sorted(each.needs & components.keys())]
        )
    return bom


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--licences", action="store_true", help="a list instead of the bill of materials")
    parser.add_argument("--lock", type=Path, default=ROOT / "requirements.lock")
    asked = parser.parse_args()
    packages = locked(asked.lock)
    if asked.licences:
        for each in packages:
            print(
                f"{each.name}\t{each.version}\t{each.licence or ('unknown' if each.applies else 'not for this system')}"
            )
    else:
        print(JsonV1Dot6(bill_of_materials(packages)).output_as_string(indent=2))
    refused = [each for each in packages if each.applies and not each.is_compatible]
    for each in refused:
        print(
            f"{each.name} {each.version} has the licence {each.licence or 'unknown'!r}, which is not known to be "
            "compatible with Apache-2.0. Replace the package, or look its licence up and add it.",
            file=sys.stderr,
        )
    return bool(refused)


if __name__ == "__main__":
    sys.exit(main())
