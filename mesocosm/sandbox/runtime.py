"""Runtime of the code in a sandbox: a Python with data libraries, and a few commands.

The server's own Python is shown without its ``site-packages``: of these only the distributions named here
appear, so that neither Mesocosm (from whose source an answer could be computed) nor anything else that
happens to be installed does.
"""

from __future__ import annotations

import atexit
import fcntl
import os
import shutil
import stat
import sys
import sysconfig
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import Distribution, PackageNotFoundError
from pathlib import Path

from mesocosm.sandbox.jobs import CODE, WORKSPACE, Job
from mesocosm.sandbox.workspace_handover import hand_over

LIBRARIES = ("numpy", "pandas", "openpyxl", "python-dateutil")
"""Distributions that the tools promise."""
_COMPANIONS = ("et-xmlfile", "six", "pytz", "tzdata", "pypdf")
"""Packages that those need, as far as they are installed, and that cost nothing to add."""

COMMANDS = tuple(
    """
    awk base64 basename bash bzip2 cat cksum cmp comm cp csplit cut date df diff dirname du echo egrep env
    expand expr false fgrep find fmt fold grep gunzip gzip head id join ln ls md5sum mkdir mktemp mv nl od
    paste printf pwd python3 readlink realpath rm rmdir sed seq sh sha1sum sha256sum shuf sleep sort split
    stat sum tac tail tar tee test timeout touch tr true truncate uname unexpand uniq wc xargs xz yes zcat
    """.split()  # noqa: SIM905 - a table
)
"""The commands there are, besides those built into the shell."""

PYTHON_HOME = "/opt/python"
_NAME = f"python{sys.version_info.major}.{sys.version_info.minor}"
PYTHON = f"{PYTHON_HOME}/bin/{_NAME}"
_STDLIB = sysconfig.get_path("stdlib")
# Debian's own Python has no place for libraries in its standard library, and looks for them beside it.
SITE_PACKAGES = (
    f"{PYTHON_HOME}/lib/{_NAME}/site-packages"
    if os.path.isdir(f"{_STDLIB}/site-packages")
    else f"{PYTHON_HOME}/lib/python3/dist-packages"
)

USER = 65533
"""The user as whom code runs where the server is root: below «nobody», out of every range in use."""


@dataclass(frozen=True)
class Mount:
    """A file or folder of the machine and where it appears."""

    source: str
    target: str


def environment(job: Job) -> dict[str, str]:
    """Return the environment of a job, independent of the server's and of the machine."""
    moment = str(int(job.moment.timestamp())) if job.moment else None
    return {
        "PATH": "/usr/bin",
        "HOME": "/tmp",
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "LD_LIBRARY_PATH": f"{PYTHON_HOME}/lib",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        # What was printed before a limit was hit shall not be lost in a buffer.
        "PYTHONUNBUFFERED": "1",
        # Each of their threads would reserve address space, and sums would depend on the number of cores.
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MALLOC_ARENA_MAX": "2",
        # The world's time: for our clock of Python, and as other programs know it that write files.
        **({"WORLD_TIME": moment, "SOURCE_DATE_EPOCH": moment} if moment else {}),
        **job.environment,
    }


def python_version() -> str:
    """The Python that code is run with."""
    return ".".join(map(str, sys.version_info[:3]))


def find_distribution(name: str) -> Distribution | None:
    """An installed distribution."""
    try:
        return Distribution.from_name(name)
    except PackageNotFoundError:
        return None


def hidden_folders() -> list[str]:
    """Folders inside what is mounted in which other Python packages of the machine may lie."""
    names = ("/usr/lib/python3/dist-packages", "/usr/lib/python3/site-packages")
    mounted = [mount.source for mount in system_mounts()]
    return [name for name in names if os.path.isdir(name) and name.startswith(tuple(mounted))]


def missing_libraries() -> list[str]:
    """Promised distributions that are not installed here."""
    return [name for name in LIBRARIES if find_distribution(name) is None]


@cache
def system_mounts() -> tuple[Mount, ...]:
    """The machine's libraries, and what else of it programs need.

    Where libraries have a folder of their own, not what lies around it: ``/usr/lib`` holds programs as well,
    such as all of git.
    """
    folders = [f"/{name}" for name in ("lib", "lib64") if not os.path.islink(f"/{name}")]
    own = sorted(map(str, Path("/usr/lib").glob("*-linux-*")))
    libraries = [*own, "/usr/lib/locale"] if own else ["/usr/lib"]
    paths = (*libraries, "/usr/lib64", *folders, "/usr/share/zoneinfo", "/etc/ld.so.cache")
    return tuple(Mount(path, path) for path in paths if os.path.exists(path))


@cache
def program_folders() -> tuple[str, ...]:
    """List folders in the mounts that hold programs: they are hidden, as the commands are elsewhere."""
    roots = [mount.source for mount in system_mounts() if os.path.isdir(mount.source)]
    found = set()
    for root in roots:
        for folder, _, names in os.walk(root):
            paths = (os.path.join(folder, name) for name in names if ".so" not in name)
            if folder not in roots and any(map(_is_program, paths)):
                found.add(folder)
    return tuple(sorted(one for one in found if not any(one.startswith(f"{other}/") for other in found)))


@cache
def program_files() -> tuple[str, ...]:
    """Programs that lie among the machine's libraries themselves: they are covered one by one."""
    roots = [mount.source for mount in system_mounts() if os.path.isdir(mount.source)]
    paths = (os.path.join(root, name) for root in roots for name in os.listdir(root) if ".so" not in name)
    return tuple(sorted(filter(_is_program, paths)))


def _is_program(path: str) -> bool:
    with suppress(OSError):
        status = os.lstat(path)
        return stat.S_ISREG(status.st_mode) and bool(status.st_mode & 0o111)
    return False


@cache
def python_mounts() -> tuple[Mount, ...]:
    """The interpreter and its standard library."""
    libraries = sorted(Path(sys.base_prefix).glob("lib/libpython3*.so*"))
    return (
        Mount(os.path.realpath(sys.executable), PYTHON),
        Mount(_STDLIB, f"{PYTHON_HOME}/lib/{_NAME}"),
        *(Mount(os.path.realpath(path), f"{PYTHON_HOME}/lib/{path.name}") for path in libraries),
    )


@cache
def library_mounts() -> tuple[Mount, ...]:
    """The data libraries, in ``site-packages``."""
    found: dict[str, str] = {}
    for name in (*LIBRARIES, *_COMPANIONS):
        distribution = find_distribution(name)
        for file in (distribution.files if distribution else None) or ():
            top = file.parts[0]
            # A .pth file could lead into a checkout; "..": scripts, which are installed elsewhere.
            if top not in ("..", "__pycache__") and not top.endswith(".pth"):
                found[top] = str(Path(str(file.locate())).parents[len(file.parts) - 1] / top)
    return tuple(
        Mount(path, f"{SITE_PACKAGES}/{top}") for top, path in sorted(found.items()) if os.path.exists(path)
    )


@cache
def image() -> str:
    """The root folder of every sandbox: commands, a few files, and places to mount the rest on.

    It is made once per process and removed when that ends. The commands are copies, because one folder is
    mounted in a tenth of the time that eighty files take. The allow-list of commands is thus no check that
    could be talked around: the others do not exist.
    """
    _remove_abandoned()
    draft = tempfile.mkdtemp(prefix=f".{_PREFIX}")
    # Held as long as this process lives, however it ends; before it bears the name by which it is looked for.
    fcntl.flock(os.open(draft, os.O_RDONLY | os.O_DIRECTORY), fcntl.LOCK_SH)
    root = f"{os.path.dirname(draft)}/{os.path.basename(draft)[1:]}"
    os.rename(draft, root)
    owner = os.getpid()
    atexit.register(lambda: shutil.rmtree(root, ignore_errors=True) if os.getpid() == owner else None)
    for folder in ("usr/bin", "etc", "dev", "tmp", CODE[1:], WORKSPACE[1:]):
        os.makedirs(f"{root}/{folder}")
    for name, text in (_FILES | accounts(1000)).items():
        Path(f"{root}/etc/{name}").write_text(text, encoding="ascii")
    os.symlink("usr/bin", f"{root}/bin")
    _add_commands(f"{root}/usr/bin")
    for mount in (*system_mounts(), *python_mounts()):
        _add_place(f"{root}{mount.target}", os.path.isdir(mount.source))
    for name in ("lib", "lib64"):
        if os.path.islink(f"/{name}"):
            os.symlink(os.readlink(f"/{name}"), f"{root}/{name}")
    for path in (SITE_PACKAGES, SITE_IMAGE):
        _add_place(f"{root}{path}", folder=True)
    shutil.copy(Path(__file__).with_name("world_clock.py"), f"{root}{SITE_IMAGE}/_world_clock.py")
    Path(f"{root}{SITE_IMAGE}/_world_clock.pth").write_text("import _world_clock\n", encoding="ascii")
    for mount in library_mounts():
        _add_place(f"{root}{SITE_IMAGE}/{os.path.basename(mount.target)}", os.path.isdir(mount.source))
    _make_even(root)
    return root


def accounts(user: int) -> dict[str, str]:
    """The files of ``/etc`` that name the user as whom code runs."""
    return {
        "passwd": f"agent:x:{user}:{user}:agent:/tmp:/bin/bash\nnobody:x:65534:65534:nobody:/:/bin/false\n",
        "group": f"agent:x:{user}:\nnogroup:x:65534:\n",
    }


def _remove_abandoned() -> None:
    """Remove the images of processes that were killed before they could do so."""
    for path in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):
            opened = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.fstat(opened).st_uid in (os.geteuid(), USER):
                    shutil.rmtree(path, ignore_errors=True)
            finally:
                os.close(opened)


_PREFIX = "mesocosm-sandbox-"
EMPTY = "/etc/.pwd.lock"
"""An empty file, as machines have it: it covers programs, and cannot be written as ``/dev/null`` can."""
_FILES = {"nsswitch.conf": "passwd: files\ngroup: files\n", os.path.basename(EMPTY): ""}
SITE_IMAGE = "/opt/site-packages"
"""Where in the image ``site-packages`` is: places for the libraries, and the clock."""
EVEN_TIME = 1_735_689_600
"""The time that the folders bear, because listings show it: 2025-01-01."""


def _add_commands(folder: str) -> None:
    for name in (*COMMANDS, "prlimit"):
        if name != "python3" and (path := shutil.which(name, path="/usr/bin:/bin")):
            shutil.copyfile(os.path.realpath(path), f"{folder}/{name}")
            os.chmod(f"{folder}/{name}", 0o755)
    os.symlink(PYTHON, f"{folder}/python3")
    if os.path.exists(f"{folder}/date"):
        os.makedirs(f"{folder}/../libexec")
        os.rename(f"{folder}/date", f"{folder}/../libexec/date")
        shutil.copy(Path(__file__).with_name("world_date.sh"), f"{folder}/date")
        os.chmod(f"{folder}/date", 0o755)


def _add_place(path: str, folder: bool) -> None:
    if folder:
        os.makedirs(path, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        Path(path).touch()


def _make_even(root: str) -> None:
    """Normalise the folders' times and owners."""
    if os.geteuid() == 0:
        hand_over(Path(root), USER)
    for folder, _, _ in os.walk(root):
        os.chmod(folder, 0o755)
        os.utime(folder, (EVEN_TIME, EVEN_TIME))


def missing_commands() -> list[str]:
    """Commands of the list that this machine does not have."""
    return [name for name in COMMANDS if not os.path.lexists(f"{image()}/usr/bin/{name}")]
