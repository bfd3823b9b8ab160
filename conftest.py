"""Leave out what only `make engines` runs: the examples of engines, and engines that are not installed."""

from importlib.util import find_spec

ENGINES = {"spark": "pyspark", "spark_ml": "pyspark", "dask": "dask", "ray": "ray"}

collect_ignore = ["docs/engines.md"]
collect_ignore += [f"src/naively/engines/{name}.py" for name, library in ENGINES.items() if find_spec(library) is None]
