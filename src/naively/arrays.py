"""Arrays of exact counts, and the base of values that hold them.

A count is a sum of weights. While all are whole, counts are int64; otherwise they are whole numbers of units of 2^-64,
of type FIXED, in which sums are exact too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from naively import _core
from naively.errors import NaivelyError

Array = np.ndarray[Any, Any]
IntArray = np.ndarray[Any, np.dtype[np.int64]]
DType = np.dtype[Any]
Numeric = Array | float
"""An array of numbers, or one number for all."""

FIXED = np.dtype([("fraction", np.uint64), ("whole", np.int64)])
"""A count with a fraction: whole + fraction * 2^-64."""
LARGEST_WEIGHT = 2.0**62
_STEP = 2.0**-12


def counted_weights(weight: Array) -> Array:
    """Return weights rounded to units of 2^-64; weights from 2^-12 on do not change."""
    return np.where(weight < _STEP, (weight + _STEP) - _STEP, weight)


def from_core(counts: Array) -> Array:
    """Convert counts that the core returns, int64 or pairs, to int64 or FIXED."""
    return counts if counts.dtype == np.int64 else counts.view(FIXED)[..., 0]


def to_core(counts: Array) -> Array:
    """Convert counts to the form in which the core takes them."""
    if counts.dtype != FIXED:
        return counts
    return np.ascontiguousarray(counts).view(np.uint64).reshape(*counts.shape, 2)


def _planes(counts: Array) -> Array:
    return to_core(counts if counts.ndim == 2 else counts.reshape(1, -1))


def widened(counts: Array) -> Array:
    """Return counts as FIXED.

    >>> rounded(widened(np.array([3])))
    array([3.])
    """
    if counts.dtype == FIXED:
        return counts
    return from_core(_core.widened(np.ascontiguousarray(_planes(counts), np.int64))).reshape(counts.shape)


def alike(parts: Sequence[Array]) -> list[Array]:
    """Return counts of one type: the one they have, or FIXED."""
    return list(parts) if len({part.dtype for part in parts}) == 1 else [widened(part) for part in parts]


def narrowed(counts: Array) -> Array:
    """Return counts as int64 if all are whole."""
    return counts if counts.dtype != FIXED else from_core(_core.narrowed(_planes(counts))).reshape(counts.shape)


def rounded(counts: Array) -> Array:
    """Return counts as int64 if all are whole, otherwise as the nearest float64."""
    return counts if counts.dtype != FIXED else _core.fixed_rounded(_planes(counts)).reshape(counts.shape)


def nonzero(counts: Array) -> Array:
    """Return a mask of the counts that are not zero."""
    return (counts["whole"] != 0) | (counts["fraction"] != 0) if counts.dtype == FIXED else counts != 0


def negative(counts: Array) -> Array:
    """Return a mask of the counts below zero."""
    return (counts["whole"] if counts.dtype == FIXED else counts) < 0


def negated(counts: Array) -> Array:
    if counts.dtype != FIXED:
        return -counts
    result = np.empty_like(counts)
    result["fraction"] = ~counts["fraction"] + np.uint64(1)
    result["whole"] = ~counts["whole"] + (counts["fraction"] == 0)
    return result


TOO_LARGE = "counts add up to more than 2^62; divide the weights by a common factor"


def plus(a: Array, b: Array) -> Array:
    """Return sums of counts of one shape."""
    if a.dtype == b.dtype == np.int64:
        result: Array = a + b
        if (((a ^ result) & (b ^ result)) < 0).any():
            raise NaivelyError(TOO_LARGE)
        return result
    try:
        return from_core(_core.fixed_added(_planes(widened(a)), _planes(widened(b)), False)).reshape(a.shape)
    except OverflowError:
        raise NaivelyError(TOO_LARGE) from None


def less(a: Array, b: Array) -> Array:
    """Return differences of counts of one shape."""
    if a.dtype == b.dtype == np.int64:
        return a - b
    return plus(widened(a), negated(widened(b)))


def summed_by(groups: Array, planes: Array, size: int) -> Array:
    """Return the sum of each plane for each group; OverflowError beyond 2^62."""
    return from_core(_core.totals(groups.astype(np.int32, copy=False), to_core(planes), size))


def sums_of_others(values: Array) -> Array:
    """Return for each of a few numbers, exact counts or float64, the sum of all the others as float64."""
    if values.dtype == np.float64:
        return total_of(values) - values
    total = summed_by(np.zeros(len(values)), values[None], 1)[0]
    return rounded(less(*alike([total[np.zeros(len(values), np.intp)], values]))).astype(np.float64)


def scaled(counts: Array, factor: Array) -> Array:
    """Return counts times factors (0 or more), one for each along the last axis, rounded down to units of 2^-64.

    >>> rounded(scaled(np.array([3, 5]), np.array([0.5, 2.0])))
    array([ 1.5, 10. ])
    """
    mantissa, exponent = np.frexp(np.broadcast_to(factor, counts.shape[-1:]).astype(np.float64))
    if (exponent > 62).any():
        raise NaivelyError(TOO_LARGE)
    whole, exact = (mantissa * 2.0**53).astype(np.uint64), widened(counts)
    low, high = exact["fraction"], exact["whole"].view(np.uint64)
    digits = [low & _LOW, low >> _HALF, high & _LOW, high >> _HALF, *(np.zeros_like(low) for _ in range(4))]
    product = _times(digits, whole & _LOW, whole >> _HALF)
    kept = _shifted_down(product, 53 - exponent)
    if any(part.any() for part in kept[4:]) or (kept[3] >> np.uint64(31)).any():
        raise NaivelyError(TOO_LARGE)
    result = np.empty(counts.shape, FIXED)
    result["fraction"] = kept[0] | (kept[1] << _HALF)
    result["whole"] = (kept[2] | (kept[3] << _HALF)).view(np.int64)
    return narrowed(result)


_LOW, _HALF = np.uint64((1 << 32) - 1), np.uint64(32)


def _times(digits: list[Array], low: Array, high: Array) -> list[Array]:
    """Return the product of numbers of digits of 32 bits, the lowest first, and of numbers of two of them."""
    result, carry = [], np.zeros_like(digits[0])
    for i, digit in enumerate(digits):
        first, second = digit * low, (digits[i - 1] * high if i else np.zeros_like(digit))
        sum_ = (first & _LOW) + (second & _LOW) + carry
        result.append(sum_ & _LOW)
        carry = (first >> _HALF) + (second >> _HALF) + (sum_ >> _HALF)
    return result


def _shifted_down(digits: list[Array], bits: Array) -> list[Array]:
    """Return numbers of digits of 32 bits, the lowest first, over 2^bits (below zero: multiplied), rounded down."""
    places, rest = np.divmod(bits, 32)
    rest, stacked = rest.astype(np.uint64), np.stack(digits)
    padding = np.zeros((2, *stacked.shape[1:]), np.uint64)
    padded = np.concatenate([padding, stacked, *[padding] * 2])
    at = np.arange(len(digits) + 1).reshape(-1, *[1] * (stacked.ndim - 1)) + places + 2
    there = (at >= 0) & (at < len(padded))
    index = np.broadcast_to(np.clip(at, 0, len(padded) - 1), (len(digits) + 1, *stacked.shape[1:]))
    moved = np.where(there, np.take_along_axis(padded, index, axis=0), np.uint64(0))
    return [((moved[i] | (moved[i + 1] << _HALF)) >> rest) & _LOW for i in range(len(digits))]


def total_of(values: Array) -> float:
    """Return the sum of a few numbers, correctly rounded, so that their order does not matter."""
    return math.fsum(values.tolist())


def sums_by(groups: Array, values: Array, size: int) -> Array:
    """Return the sum of the values of each group, as float64, in whatever order they come."""
    if values.dtype != np.int64:
        order = np.lexsort((values, groups))
        groups, values = groups[order], values[order]
    return np.bincount(groups, weights=values, minlength=size)


class Value:
    """A frozen dataclass that is pickled by its fields alone, without what was derived from them and kept."""

    def __getstate__(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
