"""The application that ``openenv.yaml`` names: one episode of a Mesocosm server for each session."""

import os

import uvicorn

from mesocosm.training.openenv import application

app = application()


def main() -> None:
    """Serve it, as ``uv run server`` does."""
    uvicorn.run(app, host=os.environ.get("HOST", "0.0.0.0"), port=int(os.environ.get("PORT", "8000")))


if __name__ == "__main__":
    main()
