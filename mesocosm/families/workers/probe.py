"""Probe of a cluster node with the standard library alone, because Mesocosm may be missing there."""

from __future__ import annotations


def probe() -> dict[str, str]:
    """The parts of the program there; without ``mesocosm``, the reason why there is none to speak of."""
    try:
        import mesocosm
    except Exception as error:  # noqa: BLE001 - whatever is wrong there is told here
        return {"error": f"mesocosm cannot be imported there: {error}"}
    try:
        from mesocosm.families.program import parts

        return parts()
    except Exception as error:  # noqa: BLE001 - as above
        version = getattr(mesocosm, "__version__", "of an unknown version")
        return {"mesocosm": version, "error": f"it does not know its parts: {error}"}
