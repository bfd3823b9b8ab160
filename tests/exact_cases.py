"""Numbers of every size, and exact sums as fractions: what the tests of exact sums share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

KINDS = ["normal", "apart", "everything", "few bits", "far", "tiny", "huge"]


both_registers = pytest.mark.parametrize("narrow", [False, True], ids=["wide", "narrow"])


@contextmanager
def registers(narrow: bool) -> Iterator[None]:
    """Without wide registers and fused multiply-add, if narrow."""
    with pytest.MonkeyPatch.context() as patch:
        if narrow:
            patch.setenv("NAIVELY_NARROW", "1")
        yield


def numbers(rng: np.random.Generator, kind: str, shape: tuple[int, ...]) -> Any:
    """Doubles of one magnitude, of magnitudes far apart, of every magnitude, ..."""
    normal = rng.normal(size=shape)
    made = {
        "normal": normal,
        "apart": np.ldexp(normal, rng.integers(-40, 40, shape)),
        "everything": np.ldexp(normal, rng.integers(-1074, 1021, shape)),
        "few bits": rng.integers(-9, 9, shape) / 4.0,
        "far": normal + 10.0 ** rng.integers(0, 300),
        "tiny": normal * 1e-307 * (rng.random(shape) < 0.5),
        "huge": np.where(rng.random(shape) < 0.01, 1e300, normal),
    }
    return made[kind]


def weights(rng: np.random.Generator, rows: int) -> Any:
    choices = (
        rng.random(rows),
        np.ldexp(rng.random(rows), rng.integers(-70, 62, rows)),
        rng.integers(0, 3, rows).astype(float),
        rng.choice([0.1, 0.7, 1e6], rows),
    )
    return choices[rng.integers(len(choices))]


def fractions(exact: Any) -> list[Fraction]:
    """The numbers that digits stand for."""
    place, length, digits = exact
    values, at = [], 0
    for low, size in zip(place.tolist(), length.tolist(), strict=True):
        own = b"".join(int(digit).to_bytes(8, "little") for digit in digits[at : at + size])
        values.append(Fraction(int.from_bytes(own, "little", signed=True)) * Fraction(2) ** (64 * low))
        at += size
    return values


def nearest(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
