"""Smoothing: how counts become probabilities."""
