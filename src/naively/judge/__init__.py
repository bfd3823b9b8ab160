"""Judging: how good a model is, and which would be better, from the counts alone."""
