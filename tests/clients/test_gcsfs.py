"""Cloud Storage through fsspec's gcsfs, by itself and below pandas: the cases of a day, in their order."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from later import later_or_skip
from rest.hosted import HostedWorld

# By default it asks for the kind of each bucket over gRPC, which is not offered, for a minute.
os.environ.setdefault("GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT", "false")
gcsfs = later_or_skip("gcsfs")
pandas = later_or_skip("pandas")
pytestmark = pytest.mark.filterwarnings("ignore")
BIG = b"0123456789abcdef" * 70_000


class Work:
    """What the cases share: a file system, options for pandas, and a folder of their own."""

    def __init__(self, api: str, folder: Path) -> None:
        self.options = {"project": "local-project", "endpoint_url": api, "token": "anon"}
        self.files = gcsfs.GCSFileSystem(**self.options)
        self.folder = folder
        self.frame = pandas.DataFrame({"a": [1, 2], "b": ["x", "y"]})


@pytest.fixture(scope="module")
def work(episode_of: Callable[..., HostedWorld], tmp_path_factory: pytest.TempPathFactory) -> Work:
    hosted = episode_of(["google_cloud"], lambda world: None)
    return Work(hosted.api("google_cloud"), tmp_path_factory.mktemp("files"))


def _frame(kind: str) -> Callable[[Work], Any]:
    def write_and_read(work: Work) -> Any:
        more = {} if kind == "json" else {"index": False}
        place = f"gs://data-1/frames/x.{kind}"
        getattr(work.frame, f"to_{kind}")(place, storage_options=work.options, **more)
        return getattr(pandas, f"read_{kind}")(place, storage_options=work.options).to_numpy().tolist()

    return write_and_read


def _written(name: str, data: bytes, **options: Any) -> Callable[[Work], Any]:
    def write(work: Work) -> Any:
        with work.files.open(f"data-1/{name}", "wb", **options) as file:
            for start in range(0, len(data), 300_000):
                file.write(data[start : start + 300_000])
        return work.files.cat(f"data-1/{name}") == data

    return write


def _put_and_got(work: Work) -> bytes:
    (work.folder / "out").write_bytes(b"there")
    work.files.put(str(work.folder / "out"), "data-1/put")
    work.files.get("data-1/put", str(work.folder / "back"))
    return (work.folder / "back").read_bytes()


def _copied_and_moved(work: Work) -> list[bool]:
    work.files.cp("data-1/whole", "data-1/copy")
    work.files.mv("data-1/copy", "data-1/moved")
    return [work.files.exists(f"data-1/{name}") for name in ("whole", "copy", "moved")]


def _merged(work: Work) -> Any:
    work.files.pipe({"data-1/m1": b"a", "data-1/m2": b"b"})
    work.files.merge("data-1/m", ["data-1/m1", "data-1/m2"])
    return work.files.cat("data-1/m")


def _attributes(work: Work) -> Any:
    work.files.setxattrs("data-1/noted", content_type="text/plain", k="w")
    return work.files.getxattr("data-1/noted", "k"), work.files.info("data-1/noted")["contentType"]


def _missing(work: Work) -> Any:
    with pytest.raises(FileNotFoundError):
        pandas.read_csv("gs://data-1/no.csv", storage_options=work.options)
    with pytest.raises(FileNotFoundError):
        work.files.pipe("nobody-has-this/x", b"1")
    return "refused"


def _removed(work: Work) -> Any:
    work.files.rm("data-1/moved")
    work.files.rm("data-1/frames", recursive=True)
    work.files.rm(work.files.find("data-1"))
    work.files.rmdir("data-1")
    return work.files.ls("")


ROWS = [[1, "x"], [2, "y"]]
CASES: dict[str, tuple[Callable[[Work], Any], Any]] = {
    "make a bucket": (lambda work: work.files.mkdir("data-1"), None),
    "CSV": (_frame("csv"), ROWS),
    "Parquet": (_frame("parquet"), ROWS),
    "JSON": (_frame("json"), ROWS),
    "bytes": (
        lambda work: [work.files.pipe("data-1/whole", b"x" * 99), work.files.size("data-1/whole")][1],
        99,
    ),
    "some of the bytes": (lambda work: len(work.files.cat_file("data-1/whole", 10, 30)), 20),
    "a file in pieces": (_written("big", BIG, block_size=2**18), True),
    "a file with metadata": (_written("noted", b"z", metadata={"k": "v"}), True),
    "attributes": (_attributes, ("w", "text/plain")),
    "a file as text": (lambda work: work.files.open("data-1/frames/x.csv", "r").read(), "a,b\n1,x\n2,y\n"),
    "put and get": (_put_and_got, b"there"),
    "copy and move": (_copied_and_moved, [True, False, True]),
    "merge": (_merged, b"ab"),
    "touch": (lambda work: [work.files.touch("data-1/empty"), work.files.size("data-1/empty")][1], 0),
    "exists": (lambda work: [work.files.exists(f"data-1/{one}") for one in ("whole", "no")], [True, False]),
    "folders": (lambda work: work.files.isdir("data-1/frames"), True),
    "glob": (lambda work: work.files.glob("data-1/**/*.parquet"), ["data-1/frames/x.parquet"]),
    "find": (lambda work: len(work.files.find("data-1", prefix="frames/")), 3),
    "what is not there": (_missing, "refused"),
    "remove": (_removed, []),
}


@pytest.mark.parametrize("case", CASES)
def test_gcsfs(case: str, work: Work) -> None:
    run, expected = CASES[case]
    assert run(work) == expected
