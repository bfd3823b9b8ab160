"""Learning: schemas, models, learners, recipes, calibration, held-out rows and model files."""
