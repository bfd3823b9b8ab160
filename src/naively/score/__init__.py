"""Scores: priors, tables of log-probabilities, calibration and explanations."""
