"""Judging: measure, compare and tune models from their counts, without refitting them."""
