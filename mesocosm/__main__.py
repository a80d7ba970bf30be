"""``mesocosm`` and ``python -m mesocosm``."""

from __future__ import annotations

import sys


def main() -> None:
    """Start the command line; a bridge, of which many clients start one each, without loading the rest."""
    if len(sys.argv) == 3 and sys.argv[1] == "bridge" and not sys.argv[2].startswith("-"):
        from mesocosm.doors.bridge import main as run_bridge

        run_bridge(sys.argv[2])
    else:
        if sys.argv[1:2] == ["serve"] and "--stdio" in sys.argv:
            from mesocosm.doors.handshake import greet

            greet(sys.argv[2:])
        from mesocosm.worlds.garbage import look_rarely

        look_rarely()
        from mesocosm.cli import main as run_cli

        run_cli()


if __name__ == "__main__":
    main()
