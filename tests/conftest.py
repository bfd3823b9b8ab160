"""Set up before anything imports SciPy: scikit-learn's checks of array API input run only where SciPy allows it."""

import os

os.environ.setdefault("SCIPY_ARRAY_API", "1")
