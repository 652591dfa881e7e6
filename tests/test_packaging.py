"""What is installed is what is here: packages are listed, not searched for, so a forgotten one would be missing."""

import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
SETUP, BUILD = PROJECT["tool"]["setuptools"], PROJECT["build-system"]
# Packages of data that live beside the code and are installed within it.
OUTSIDE = {name: folder for name, folder in SETUP["package-dir"].items() if name != folder}


def files(folder):
    return [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"]


def test_the_packages_of_the_distribution_are_those_on_disk():
    inside = {".".join(init.parent.relative_to(ROOT).parts) for init in (ROOT / "sodamem").rglob("__init__.py")}
    assert set(SETUP["packages"]) == inside | set(OUTSIDE)
    assert len(inside) >= 15 and OUTSIDE["sodamem.conf"] == "conf"


def test_every_folder_of_code_is_a_package():
    folders = {path.parent for path in (ROOT / "sodamem").rglob("*.py")}
    assert not [str(folder) for folder in folders if not (folder / "__init__.py").exists()]


@pytest.mark.slow
def test_a_wheel_holds_every_module_and_every_data_file(tmp_path):
    argv = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", str(tmp_path)]
    for name in ("sodamem", "conf", *OUTSIDE.values(), "pyproject.toml", "README.md", "LICENSE"):
        if (ROOT / name).exists() and not (tmp_path / "src" / name).exists():
            copy(ROOT / name, tmp_path / "src" / name)  # building writes beside the sources
    needed = next(name for name in BUILD["requires"] if name.startswith("setuptools")).partition(">=")[2]
    if int(version("setuptools").partition(".")[0]) < int(needed):
        pytest.skip(f"building without isolation needs setuptools >= {needed}, installed is {version('setuptools')}")
    built = subprocess.run([*argv, str(tmp_path / "src")], capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    wanted = {str(path.relative_to(ROOT)) for path in files(ROOT / "sodamem")}
    for package, folder in OUTSIDE.items():
        place = package.replace(".", "/")
        wanted |= {f"{place}/{path.relative_to(ROOT / folder)}" for path in files(ROOT / folder)}
    assert not sorted(wanted - names)
    assert "sodamem/conf/config.yaml" in names and len([name for name in names if name.endswith(".yaml")]) >= 50


def copy(source, target):
    ignore = shutil.ignore_patterns("__pycache__")
    target.parent.mkdir(exist_ok=True)
    shutil.copytree(source, target, ignore=ignore) if source.is_dir() else shutil.copy(source, target)
