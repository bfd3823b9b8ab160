"""Blocks: a model is a few groups of columns, each read, counted and weighed by one family."""
