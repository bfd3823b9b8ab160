"""Densities of numbers. Loading the package registers every family, so that files may hold it."""

from naively.families.densities.beta import Beta
from naively.families.densities.circular import Circular
from naively.families.densities.exponential import Exponential
from naively.families.densities.gamma import Gamma
from naively.families.densities.gaussian import Gaussian
from naively.families.densities.geometric import Geometric
from naively.families.densities.log_normal import LogNormal
from naively.families.densities.negative_binomial import NegativeBinomial

__all__ = ["Beta", "Circular", "Exponential", "Gamma", "Gaussian", "Geometric", "LogNormal", "NegativeBinomial"]
