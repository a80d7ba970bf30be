"""Images: reading them, and transformations that can be undone exactly."""

from __future__ import annotations

import base64
import io
import math
from typing import Any

import orjson
import pytest
from PIL import Image

from mesocosm.servers.documents.store import DocumentsStore
from mesocosm.servers.documents.store.pictures import combined, draw
from mesocosm.services.calling import ToolError


@pytest.fixture
def original(documents: Any) -> bytes:
    """The bytes of the image as it was stored."""
    return image_of(documents.blocks("read_document", file_id="shapes"))


def image_of(blocks: list[Any]) -> bytes:
    assert blocks[-1].type == "image"
    return base64.b64decode(blocks[-1].data)


def transform(documents: Any, tool: str, doc_id: str, **arguments: Any) -> tuple[str, bytes]:
    blocks = documents.blocks(tool, doc_id=doc_id, **arguments)
    return orjson.loads(blocks[0].text)["id"], image_of(blocks)


def test_an_image_is_read_with_its_text(documents: Any, original: bytes) -> None:
    text, image = documents.blocks("read_document", file_id="shapes")
    assert (text.text, image.mime_type) == ("Count.", "image/png")
    about = documents("get_document", file_id="shapes")
    assert (about["type"], about["width"], about["height"]) == ("image", 60, 40)


UNDOING = [
    (("rotate_image", {"angle": 37.5}), ("rotate_image", {"angle": -37.5})),
    (("rotate_image", {"angle": 90}), ("rotate_image", {"angle": 270})),
    (("flip_image", {"flip_type": "horizontal"}), ("flip_image", {"flip_type": "horizontal"})),
    (("flip_image", {"flip_type": "vertical"}), ("rotate_image", {"angle": 180})),
    (
        ("stretch_image", {"width_factor": 3, "height_factor": 0.25}),
        ("stretch_image", {"width_factor": 0.333, "height_factor": 4}),
    ),
]


@pytest.mark.parametrize(("there", "back"), UNDOING)
def test_a_transformation_is_undone_without_loss(
    documents: Any, original: bytes, there: tuple[str, dict[str, Any]], back: tuple[str, dict[str, Any]]
) -> None:
    shown, changed = transform(documents, there[0], "shapes", **there[1])
    assert changed != original
    again, restored = transform(documents, back[0], shown, **back[1])
    if back == ("rotate_image", {"angle": 180}):
        _, restored = transform(documents, "flip_image", again, flip_type="horizontal")
    assert restored == original


def test_a_distorted_image_can_be_straightened_with_the_tools(documents: Any, original: bytes) -> None:
    with documents.tools.world.editing() as world:
        steps = [("rotate", 33), ("flip", "vertical"), ("stretch", 2, 0.5)]
        image = {"title": "Skewed", "file_id": "v13%a", "data": original, "steps": steps}
        world.store(DocumentsStore).filling.add_images("research", [image])
    assert image_of(documents.blocks("read_document", file_id="v13%a")) != original
    one, _ = transform(documents, "stretch_image", "v13%a", width_factor=0.5, height_factor=2)
    two, _ = transform(documents, "flip_image", one, flip_type="vertical")
    _, straight = transform(documents, "rotate_image", two, angle=-33)
    assert straight == original


@pytest.mark.parametrize("shift", [-1, -0.5, 0.5, 1])
def test_a_shear_is_undone_by_a_rotation_a_stretch_and_a_rotation(
    documents: Any, original: bytes, shift: float
) -> None:
    with documents.tools.world.editing() as world:
        image = {"title": "Slant", "file_id": "slant", "data": original, "steps": [("shear", shift)]}
        world.store(DocumentsStore).filling.add_images("research", [image])
    factor = (math.hypot(shift, 2) + abs(shift)) / 2
    first, last = math.atan2(-2 * shift, -shift * shift) / 2, math.atan2(-2 * shift, shift * shift) / 2
    one, _ = transform(documents, "rotate_image", "slant", angle=math.degrees(first))
    two, _ = transform(documents, "stretch_image", one, width_factor=factor, height_factor=1 / factor)
    _, straight = transform(documents, "rotate_image", two, angle=-math.degrees(last))
    assert straight == original


def test_a_gray_picture_stays_gray_and_is_extended_in_white() -> None:
    written = io.BytesIO()
    Image.new("L", (40, 20), 0).save(written, "PNG")
    data, _ = draw(written.getvalue(), "image/png", combined([("rotate", 45)]))
    shown = Image.open(io.BytesIO(data))
    assert shown.mode == "L"
    assert shown.getpixel((0, 0)) == 255
    assert shown.getpixel((shown.width // 2, shown.height // 2)) == 0


def test_the_stored_image_stays_and_the_result_is_a_document_of_ones_own(
    documents: Any, original: bytes
) -> None:
    made, _ = transform(documents, "rotate_image", "shapes", angle=90)
    assert image_of(documents.blocks("read_document", file_id="shapes")) == original
    about = documents("get_document", file_id=made)
    assert about["path"] == "My documents/Shapes (rotated 90°)"
    assert (about["width"], about["height"], about["derived_from"]) == (40, 60, "shapes")


def test_a_viewer_may_transform_what_belongs_to_others(documents: Any) -> None:
    with documents.tools.world.editing() as world:
        store = world.store(DocumentsStore)
        store.sharing.give("shapes", "cy@example.org", "viewer")
        store.sign_in("cy@example.org")
    made, _ = transform(documents, "flip_image", "shapes", flip_type="horizontal")
    assert documents("get_document", file_id=made)["role"] == "owner"


def test_quarter_turns_and_mirrors_move_pixels_only(original: bytes) -> None:
    source = Image.open(io.BytesIO(original)).convert("RGB")
    for steps, transpose in (
        ([("rotate", 90)], Image.Transpose.ROTATE_90),
        ([("rotate", 180)], Image.Transpose.ROTATE_180),
        ([("flip", "horizontal")], Image.Transpose.FLIP_LEFT_RIGHT),
        ([("flip", "vertical")], Image.Transpose.FLIP_TOP_BOTTOM),
    ):
        data, media_type = draw(original, "image/png", combined(steps))
        assert media_type == "image/png"
        assert Image.open(io.BytesIO(data)).tobytes() == source.transpose(transpose).tobytes()


def test_a_turned_image_shows_all_of_itself(original: bytes) -> None:
    data, _ = draw(original, "image/png", combined([("rotate", 45)]))
    colors = Image.open(io.BytesIO(data)).getcolors(100_000)
    assert colors is not None
    counts = {color: count for count, color in colors}
    assert counts[(255, 0, 0)] > 100
    assert counts[(0, 0, 255)] > 100


def test_an_image_is_downloaded_as_shown_and_uploaded(documents: Any, original: bytes) -> None:
    documents("download_file", file_id="shapes", path="shapes.png")
    assert documents.tools.world.workspace.read("shapes.png") == original
    made = documents("upload_file", path="shapes.png", title="Again")
    assert image_of(documents.blocks("read_document", file_id=made["id"])) == original


def test_a_broken_image_is_refused(documents: Any) -> None:
    documents.tools.world.workspace.write("bad.png", b"\x89PNG not really")
    before = documents.state()
    with pytest.raises(ToolError, match="not an image that can be read"):
        documents("upload_file", path="bad.png")
    assert documents.state() == before


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("rotate_image", {"doc_id": "nope", "angle": 90}, "File not found"),
        ("rotate_image", {"doc_id": "roadmap", "angle": 90}, "not an image"),
        ("rotate_image", {"doc_id": "shapes", "angle": 1e9}, "angle must be"),
        ("rotate_image", {"doc_id": "shapes", "angle": "a quarter"}, "must be number"),
        ("flip_image", {"doc_id": "shapes", "flip_type": "diagonal"}, "must be one of"),
        ("flip_image", {"doc_id": "secret", "flip_type": "vertical"}, "File not found"),
        (
            "stretch_image",
            {"doc_id": "shapes", "width_factor": 0, "height_factor": 1},
            "width_factor must be",
        ),
        (
            "stretch_image",
            {"doc_id": "shapes", "width_factor": 1, "height_factor": -2},
            "height_factor must be",
        ),
        ("stretch_image", {"doc_id": "roadmap", "width_factor": 1, "height_factor": 1}, "not an image"),
    ],
)
def test_bad_transformations_are_refused_without_a_trace(
    documents: Any, tool: str, arguments: dict[str, Any], message: str
) -> None:
    before = documents.state()
    with pytest.raises(ToolError, match=message):
        documents(tool, **arguments)
    assert documents.state() == before


def test_an_image_does_not_grow_without_bound(documents: Any) -> None:
    made, _ = transform(documents, "stretch_image", "shapes", width_factor=20, height_factor=20)
    with pytest.raises(ToolError, match="too large"):
        documents("stretch_image", doc_id=made, width_factor=20, height_factor=20)
