"""What each kernel of the compiled core must do, in plain Python."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np


def missing(x: Any) -> bool:
    return isinstance(x, float) and math.isnan(x)


def value(x: Any, threshold: float | None) -> float:
    return float(x) if threshold is None else float(x > threshold)


def count(rows: list[list[Any]], klass: list[int], weight: list[float], threshold: float | None) -> Any:
    """Exact sums and missing weights by (feature, class); each product is rounded to a double, and to 2^-64."""
    sums: dict[tuple[int, int], Fraction] = {}
    holes: dict[tuple[int, int], Fraction] = {}
    for row, c, w in zip(rows, klass, weight, strict=True):
        for j, x in enumerate(row):
            to, product = (holes, w) if missing(x) else (sums, value(x, threshold) * w)
            to[j, c] = to.get((j, c), Fraction(0)) + Fraction(in_units(product), 2**64)
    return {k: v for k, v in sums.items() if v}, {k: v for k, v in holes.items() if v}


def moments(rows: list[list[Any]], klass: list[int], weight: list[float], c: int, j: int) -> tuple[float, float, float]:
    """Count, mean and squared deviations of one class and column, in two passes."""
    seen = [(r[j], w) for r, k, w in zip(rows, klass, weight, strict=True) if k == c and not missing(r[j])]
    n = math.fsum(w for _, w in seen)
    if n == 0:
        return 0.0, 0.0, 0.0
    mean = math.fsum(x * w for x, w in seen) / n
    return n, mean, math.fsum(w * (x - mean) ** 2 for x, w in seen)


def linear(row: list[Any], weights: list[list[float]], base: list[float], threshold: float | None) -> list[float]:
    """base + sum of value times weight."""
    return [
        math.fsum([base[c], *(value(x, threshold) * weights[j][c] for j, x in enumerate(row) if not missing(x))])
        for c in range(len(base))
    ]


def normal(row: list[float], mean: Any, variance: Any, base: Any) -> list[float]:
    """Log-densities of what is known of a row."""
    return [
        base[c]
        + math.fsum(
            -0.5 * math.log(2 * math.pi * variance[c][j]) - (x - mean[c][j]) ** 2 / (2 * variance[c][j])
            for j, x in enumerate(row)
            if not missing(x)
        )
        for c in range(len(base))
    ]


def exact_sums(rows: Any, klass: Any, classes: int, weight: Any) -> tuple[list[Fraction], ...]:
    """Σw, Σwx and Σwx² by class and column, as fractions, with weights as whole multiples of 2^-64."""
    n, x, squares = ([[Fraction(0)] * rows.shape[1] for _ in range(classes)] for _ in range(3))
    for i, (row, c) in enumerate(zip(rows.tolist(), klass.tolist(), strict=True)):
        w = Fraction(1) if weight is None else Fraction(round(Fraction(float(weight[i])) * 2**64), 2**64)
        for j, value in enumerate(row):
            if missing(value):
                continue
            exact = Fraction(float(value))
            n[c][j] += w
            x[c][j] += w * exact
            squares[c][j] += w * exact * exact
    return tuple([value for row in sums for value in row] for sums in (n, x, squares))


def exact_pairs(rows: Any, klass: Any, classes: int, weight: Any) -> Any:
    """n, x and products of pairs of columns as ExactPairs holds them, as fractions."""
    width = rows.shape[1]
    sums = np.full((3, classes, width, width), Fraction(0), object)
    for r, (row, c) in enumerate(zip(rows.tolist(), klass.tolist(), strict=True)):
        w = Fraction(1) if weight is None else Fraction(round(Fraction(float(weight[r])) * 2**64), 2**64)
        exact = [None if missing(value) else Fraction(value) for value in row]
        for i, x in enumerate(exact):
            for j, y in enumerate(exact):
                if x is not None and (i == j or y is None):
                    sums[0, c, i, j] += w
                    sums[1, c, i, j] += w * x
                if x is not None and y is not None and i <= j:
                    sums[2, c, i, j] += w * x * y
    return sums


def in_units(number: float) -> int:
    """A number in units of 2^-64, rounded to the nearest and of two to the even one."""
    return round(Fraction(number) * 2**64)


def as_fractions(counts: Any) -> list[Any]:
    """Counts as the core returns them, int64 or pairs of the fraction and the whole, as fractions."""
    if counts.dtype.kind == "i":
        return [Fraction(n) for n in counts.ravel().tolist()]
    pairs = counts.reshape(-1, 2).tolist()
    return [low_high(fraction, whole) for fraction, whole in pairs]


def low_high(fraction: int, whole: int) -> Fraction:
    number = whole * 2**64 + fraction
    return Fraction(number - 2**128 if whole >= 2**63 else number, 2**64)


def tick(x: float, level: int) -> tuple[bool, Fraction]:
    """The range of numbers that x falls into: is it below zero, and what is the least size in the range."""
    size = abs(Fraction(x))
    exponent = -1022 if size < Fraction(2) ** -1022 else math.frexp(abs(x))[1] - 1
    step = Fraction(2) ** (exponent - level)
    return x < 0, size // step * step


def number_counts(values: Any, klass: Any, weight: Any) -> tuple[int, dict[Any, Fraction], dict[int, Fraction]]:
    """Level, weight by tick and class, and weight of missing values by class, of one column."""
    known: dict[Any, Fraction] = {}
    lost: dict[int, Fraction] = {}
    for i, (x, c) in enumerate(zip(values.tolist(), klass.tolist(), strict=True)):
        w = Fraction(1) if weight is None else Fraction(round(Fraction(float(weight[i])) * 2**64), 2**64)
        if w and missing(x):
            lost[c] = lost.get(c, Fraction(0)) + w
        elif w:
            known[float(x), c] = known.get((float(x), c), Fraction(0)) + w
    for level in (52, 18, *range(10, -1, -1)):
        cells: dict[Any, Fraction] = {}
        for (x, c), w in known.items():
            key = tick(x, level), c
            cells[key] = cells.get(key, Fraction(0)) + w
        fits = len({own for own, _ in cells}) <= 16384 if level > 10 else len(cells) <= 2**20
        if fits or level == 0:
            return level, cells, lost
    raise AssertionError
