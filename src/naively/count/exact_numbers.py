"""Exact numbers: arrays of numbers that are added and subtracted without rounding."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from naively import _core
from naively.arrays import Array, Value
from naively.store.damage import are, need
from naively.store.registry import stored
from naively.threads import threads

if TYPE_CHECKING:
    from typing_extensions import Self


def _check_numbers(numbers: ExactNumbers) -> None:
    shape = numbers.place.shape
    need(are(numbers.place, "i1", *shape) and are(numbers.length, "u1", *shape), "the places of digits")
    need(are(numbers.digits, "u8", None) and numbers.well_formed(), "the digits of sums")


@stored(check=_check_numbers)
@dataclass(frozen=True, eq=False, repr=False)
class ExactNumbers(Value):
    """An array of numbers, each a whole number times a power of two, as sums of float64 and of their products are.

    >>> a, b = ExactNumbers.of(np.array([1e300, 0.1])), ExactNumbers.of(np.array([1e-300, 0.2]))
    >>> (a + b) - b == a
    True
    >>> (a + b).rounded()
    array([1.e+300, 3.e-001])

    A number is kept as its digits of 64 bits from the first that is not zero to the last, in two's complement; the
    digit at place p is worth 2^(64 p). `place` and `length` say for each number where its first digit is placed and how
    many it has; `digits` are those of all numbers.
    """

    place: Array
    length: Array
    digits: Array

    @classmethod
    def of(cls, values: Array) -> Self:
        """Convert finite float64, exactly."""
        return cls._from(_core.exactly(np.ascontiguousarray(values, np.float64).ravel()), values.shape)

    @classmethod
    def zeros(cls, shape: tuple[int, ...]) -> Self:
        return cls(np.zeros(shape, np.int8), np.zeros(shape, np.uint8), np.zeros(0, np.uint64))

    @classmethod
    def stacked(cls, parts: list[Self]) -> Self:
        """Stack arrays of one shape along a new first axis."""
        place, length = (np.stack([getattr(part, name) for part in parts]) for name in ("place", "length"))
        return cls(place, length, np.concatenate([part.digits for part in parts]))

    @classmethod
    def _from(cls, numbers: Any, shape: tuple[int, ...]) -> Self:
        place, length, digits = numbers
        return cls(place.reshape(shape), length.reshape(shape), digits)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.place.shape

    @property
    def nbytes(self) -> int:
        return self.place.nbytes + self.length.nbytes + self.digits.nbytes

    @property
    def flat(self) -> tuple[Array, Array, Array]:
        """The arrays that the core takes."""
        return self.place.ravel(), self.length.ravel(), self.digits

    def __getitem__(self, at: int) -> Self:
        """Return the numbers at a place of the first axis."""
        sizes = self.length.reshape(len(self.length), -1).sum(axis=1, dtype=np.int64)
        begin = int(sizes[:at].sum())
        return type(self)(self.place[at], self.length[at], self.digits[begin : begin + int(sizes[at])])

    def __add__(self, other: Self) -> Self:
        return self._from(_core.exact_added(self.flat, other.flat, False), self.shape)

    def __sub__(self, other: Self) -> Self:
        return self._from(_core.exact_added(self.flat, other.flat, True), self.shape)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ExactNumbers):
            return NotImplemented
        pairs = (self.place, other.place), (self.length, other.length), (self.digits, other.digits)
        return all(np.array_equal(mine, theirs) for mine, theirs in pairs)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"ExactNumbers({self.rounded()})"

    def scaled(self, factors: Array, away: Array) -> Self:
        """Return the numbers times factors (0 or more), in a shape that fits: exactly, up to `_MOST_DIGITS` digits.

        Of longer products the last digits are left out, and the rest is rounded away from zero where `away` is True.

        >>> ExactNumbers.of(np.array([3.0, -0.1])).scaled(np.array([0.5, 2.0]), np.array(True)).rounded()
        array([ 1.5, -0.2])
        """
        data, ends = np.ascontiguousarray(self.digits).tobytes(), 8 * np.cumsum(self.length, dtype=np.int64)
        begins = np.concatenate([[0], ends[:-1]]) if len(ends) else ends
        flat = [values.ravel().tolist() for values in np.broadcast_arrays(self.place, factors, away)]
        products = [
            _product(int.from_bytes(data[begin:end], "little", signed=True), *number)
            for begin, end, *number in zip(begins.tolist(), ends.tolist(), *flat, strict=True)
        ]
        place = np.array([place for place, _ in products], np.int8).reshape(self.shape)
        length = np.array([len(digits) // 8 for _, digits in products], np.uint8).reshape(self.shape)
        return type(self)(place, length, np.frombuffer(b"".join(digits for _, digits in products), np.uint64))

    def take(self, index: Array) -> Self:
        """Return the numbers at these places of the flat array, in the shape of `index`; below zero, a zero."""
        return self._from(_core.exact_taken(self.flat, index.ravel()), index.shape)

    def spread(self, shape: tuple[int, ...], at: Any) -> Self:
        """Return an array of this shape with the numbers at these places, in the same order, and zeros elsewhere."""
        place, length = np.zeros(shape, np.int8), np.zeros(shape, np.uint8)
        place[at], length[at] = self.place, self.length
        return type(self)(place, length, self.digits)

    def total(self, axis: int) -> Self:
        """Return sums over an axis."""
        before, after = self.shape[:axis], self.shape[axis + 1 :]
        outer, inner = (math.prod(shape) for shape in (before, after))
        return self._from(
            _core.exact_totals(self.flat, outer, self.shape[axis], inner, threads(self.digits.size)), before + after
        )

    def signs(self) -> Array:
        """Return -1, 0 or 1 for each number."""
        return _core.exact_signs(self.flat).reshape(self.shape)

    def rounded(self) -> Array:
        """Return the float64 nearest to each number; infinite if it is too large."""
        return _core.exact_rounded(self.flat).reshape(self.shape)

    def well_formed(self) -> bool:
        """True if every number has its only valid representation."""
        return self.place.shape == self.length.shape and _core.exact_well_formed(*self.flat)


_MOST_DIGITS = 8
"""The number of digits of a product that is rounded: 512 bits, so that a variance is known to all bits of a double."""
_LOWEST_PLACE = -36


def _product(number: int, place: int, factor: float, away: bool) -> tuple[int, bytes]:
    """Return the place and the digits of number * 2^(64 place) * factor."""
    top, bottom = factor.as_integer_ratio()  # the bottom is a power of two
    number *= top
    if not number:
        return 0, b""
    low, up = divmod(1 - bottom.bit_length(), 64)
    size, place = abs(number << up), place + low
    excess = max(-(-(size.bit_length() + 1) // 64) - _MOST_DIGITS, _LOWEST_PLACE - place, 0)
    if excess:
        rest = size & ((1 << 64 * excess) - 1)
        size, place = (size >> 64 * excess) + (away and rest > 0), place + excess
    zeros = ((size & -size).bit_length() - 1) // 64 if size else 0
    size >>= 64 * zeros
    signed = size if number > 0 else -size
    if not signed:
        return 0, b""
    bits = signed.bit_length() if signed > 0 else (-signed - 1).bit_length()
    return place + zeros, signed.to_bytes(8 * (bits // 64 + 1), "little", signed=True)
