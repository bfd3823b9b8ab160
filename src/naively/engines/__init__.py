"""Engines: counting and predicting on Spark, Dask and Ray; each is imported by the file of its name alone."""
