"""``python -m mesocosm``."""

from mesocosm.cli import main

if __name__ == "__main__":
    main()
