"""Run `python -m naively.cli`, for when the command `naively` is not on the path."""

import sys

from naively.cli import main

if __name__ == "__main__":
    sys.exit(main())
