"""What is shipped: the wheel holds every file of the folders, and the engine installs without the dashboard."""

from __future__ import annotations

import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("package")]


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("wheel")
    copy = tmp_path_factory.mktemp("source") / "mnemoscope"
    tracked = run("git", "ls-files", "--cached", "--others", "--exclude-standard", cwd=ROOT).splitlines()
    for name in tracked:
        source = ROOT / name
        if source.is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            (copy / name).write_bytes(source.read_bytes())
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(target), str(copy))
    return next(target.glob("*.whl"))


def test_the_wheel_holds_every_file_of_the_folders(wheel: Path) -> None:
    expected = {f"mnemoscope/{name}" for name in shipped(ROOT / "engine" / "mnemoscope")}
    expected |= {f"mnemoscope_dashboard/app/{name}" for name in shipped(ROOT / "app")}
    expected |= {f"mnemoscope_dashboard/pages/{name}" for name in shipped(ROOT / "pages")}
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert packed == expected


def test_the_engine_alone_needs_and_imports_no_dashboard(wheel: Path, tmp_path: Path) -> None:
    python = fresh_environment(tmp_path)
    run(python, "-m", "pip", "install", "--quiet", "--constraint", str(ROOT / "constraints.txt"), str(wheel))
    installed = run(python, "-m", "pip", "list", "--format=freeze").casefold()
    assert not [name for name in ("streamlit", "pandas", "plotly", "pyarrow") if f"{name}==" in installed]
    code = (
        "import sys, mnemoscope; from mnemoscope import MemoryEngine, MemoryConfig; "
        "print(sorted({'streamlit', 'pandas', 'plotly', 'app'} & set(sys.modules)))"
    )
    assert run(python, "-c", code, cwd=tmp_path).strip() == "[]"


def shipped(folder: Path) -> set[str]:
    files = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(folder).as_posix() for path in files}


def fresh_environment(folder: Path) -> str:
    venv.create(folder / "venv", with_pip=True)
    return str(folder / "venv" / ("Scripts" if sys.platform == "win32" else "bin") / "python")


def run(*command: str, cwd: Path | None = None) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
