"""Columns of a table: categories, histograms, kernels, and how one is chosen."""
