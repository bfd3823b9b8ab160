"""Set up before anything imports SciPy: scikit-learn's checks of array API input run only where SciPy allows it."""

import os

from hypothesis import settings

os.environ.setdefault("SCIPY_ARRAY_API", "1")

# How long an example takes depends on the machine, so it is no failure.
settings.register_profile("naively", deadline=None)
settings.load_profile("naively")
