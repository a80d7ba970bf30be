"""Tools that show an image turned, mirrored or stretched."""

from __future__ import annotations

from typing import Literal

from mesocosm.servers.documents.store import DocumentsStore
from mesocosm.servers.documents.store.pictures import Matrix, mirroring, rotation, stretching
from mesocosm.servers.documents.tools.service import ImageId, server
from mesocosm.services.schema import Json
from mesocosm.services.service import Image


@server.writes
def rotate_image(store: DocumentsStore, doc_id: ImageId, angle: float) -> tuple[Json, Image]:
    """Show an image rotated. The document stays as it is; the result is a new document with an id of its own.

    Transformations add up without loss: rotating the result by the opposite angle gives the original again.

    Args:
        angle: Degrees, counter-clockwise; a negative angle turns clockwise.
    """
    return _transformed(store, doc_id, rotation(angle), f"(rotated {angle:g}°)")


@server.writes
def flip_image(
    store: DocumentsStore, doc_id: ImageId, flip_type: Literal["horizontal", "vertical"]
) -> tuple[Json, Image]:
    """Show an image mirrored. The document stays as it is; the result is a new document with its own id.

    Args:
        flip_type: horizontal exchanges left and right, vertical exchanges top and bottom.
    """
    return _transformed(store, doc_id, mirroring(flip_type), f"(flipped {flip_type}ly)")


@server.writes
def stretch_image(
    store: DocumentsStore, doc_id: ImageId, width_factor: float, height_factor: float
) -> tuple[Json, Image]:
    """Show an image with another width and height. The document stays as it is; the result is a new document.

    Transformations add up without loss: stretching the result by 1/factor gives the original again.

    Args:
        width_factor: What to multiply the width by, 0.05 to 20; 1 keeps it.
        height_factor: What to multiply the height by, 0.05 to 20; 1 keeps it.
    """
    done = f"(stretched {width_factor:g} x {height_factor:g})"
    return _transformed(store, doc_id, stretching(width_factor, height_factor), done)


def _transformed(store: DocumentsStore, doc_id: str, matrix: Matrix, done: str) -> tuple[Json, Image]:
    made, image, (width, height) = store.writing.transform(doc_id, matrix, done)
    return {"id": made, "derived_from": doc_id, "width": width, "height": height}, image
