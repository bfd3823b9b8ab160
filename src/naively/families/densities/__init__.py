"""Densities of numbers."""
