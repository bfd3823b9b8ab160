"""Families: what to count of a row, and how to weigh it.

A family supplies `count` (rows to a tally), `table` (counts and rules to a table), `sample` (rows from a table) and
how many parameters it has. Everything else is the same for all of them.
"""

from naively.families.bernoulli import Bernoulli
from naively.families.categorical import Categorical
from naively.families.complement import Complement
from naively.families.gaussian import Gaussian
from naively.families.multinomial import Multinomial
from naively.families.poisson import Poisson
from naively.families.words import Words

__all__ = ["Bernoulli", "Categorical", "Complement", "Gaussian", "Multinomial", "Poisson", "Words"]
