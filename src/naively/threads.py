"""How many threads the compiled core may use."""

from __future__ import annotations

import os

from naively.errors import InputError

SMALL = 1 << 16
"""Work with fewer numbers than this is done on one thread, as in the compiled core."""


def threads(numbers: int = SMALL) -> int:
    """How many to use for so many numbers.

    As `NAIVELY_THREADS` says, else `OMP_NUM_THREADS` (which joblib sets in its workers), else one for each core.
    """
    if numbers < SMALL:
        return 1
    for name in ("NAIVELY_THREADS", "OMP_NUM_THREADS"):
        given = os.environ.get(name, "").split(",")[0].strip()
        if given:
            if not given.isdigit() or int(given) < 1:
                raise InputError(f"{name} must be a whole number above 0, got {given!r}")
            return int(given)
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1
