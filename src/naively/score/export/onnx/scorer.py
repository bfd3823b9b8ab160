"""Scorer: a graph to which the terms of a model are added."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np

from naively.arrays import Array
from naively.errors import InputError
from naively.score.export.onnx.formulas import written
from naively.score.export.onnx.graph import Graph
from naively.score.export.onnx.words import counts_of, weighted
from naively.score.export.symbols import Unwritable, formula
from naively.score.export.terms import (
    TEXT,
    Above,
    Bins,
    Codes,
    DatePart,
    Densities,
    IsMissing,
    Names,
    Sums,
    Terms,
    Weights,
    Whole,
    Words,
    column_kinds,
)

_BARRED = -1e300
"""The score of a class that cannot be chosen."""


@dataclass
class Scorer:
    """A graph in the making: the inputs by column, and the sums that terms add to.

    `array` are the columns of a model of arrays, which come as one input X.
    """

    terms: Terms
    array: Sequence[str] | None
    texts: str
    graph: Graph = field(default_factory=Graph)
    inputs: dict[str, str] = field(default_factory=dict)
    finite: list[str] = field(default_factory=list)
    impossible: list[str] = field(default_factory=list)

    def declare(self) -> None:
        """Declare the inputs."""
        graph = self.graph
        kinds: dict[str, str] = {}
        for term in self.terms.terms:
            for name, kind in column_kinds(term).items():
                kinds.setdefault(name, "string" if kind == TEXT else "double")
        sizes = {term.column: len(term.words) for term in self.terms.terms if isinstance(term, Words)}
        if self.array is not None and len(set(kinds.values())) < 2:
            graph.input("X", next(iter(kinds.values()), "double"), len(self.array))
            for number, name in enumerate(self.array):
                if name in kinds and not self._is_whole_sum(name):
                    self.inputs[name] = graph.add("Gather", "X", graph.constant([number], np.int64), axis=1)
            return
        for name, kind in kinds.items():
            if name in sizes and self.texts == "counts":
                self.inputs[name] = graph.input(name, "double", sizes[name])
            else:
                self.inputs[name] = graph.input(name, kind, 1)

    def _is_whole_sum(self, name: str) -> bool:
        """True if a column of an array is read only together with all others."""
        return all(isinstance(term, Sums) and list(term.columns) == list(self.array or ()) for term in self.terms.terms)

    def add(self) -> None:
        """Add all terms; densities of one family are computed together."""
        add: dict[type, Callable[[Any], None]] = {Codes: self._codes, Sums: self._sums, Words: self._words}
        families: dict[Any, list[Densities]] = {}
        for term in self.terms.terms:
            if isinstance(term, Densities):
                families.setdefault(term.family, []).append(term)
            else:
                add[type(term)](term)
        for terms in families.values():
            self._densities(terms)

    def _both(self, weights: Weights, of: Callable[[Array], str]) -> None:
        """Add what `of` makes of finite weights, and of those that count impossible factors."""
        self.finite.append(of(weights.finite))
        if weights.impossible is not None:
            self.impossible.append(of(weights.impossible))

    def _is_missing(self, column: str, kind: str) -> str:
        """Return whether the values of a column are missing: NaN, or the empty text."""
        value = self.inputs[column]
        if kind == TEXT:
            return self.graph.add("Equal", value, self.graph.constant([""], object))
        return self.graph.add("IsNaN", value)

    # --- codes

    def _codes(self, term: Codes) -> None:
        """Add the row of weights of each code; one more row stands for a missing value."""
        graph, coding, unseen = self.graph, term.coding, len(term.weights.finite) - 1
        missing = self._is_missing(term.column, coding.kind)
        if isinstance(coding, IsMissing):
            code = graph.cast(missing, "int64")
        else:
            code = graph.add("Where", missing, graph.constant([unseen + 1], np.int64), self._code(term, unseen))
        flat = graph.add("Reshape", code, graph.constant([-1], np.int64))

        def rows(weights: Array) -> str:
            known = np.concatenate([weights, np.zeros((1, weights.shape[1]))])
            return graph.add("Gather", graph.constant(known), flat, axis=0)

        self._both(term.weights, rows)

    def _code(self, term: Codes, unseen: int) -> str:
        """Return the code of each value of a column that is not missing."""
        graph, coding, value = self.graph, term.coding, self.inputs[term.column]
        if isinstance(coding, DatePart):
            raise InputError(f"column {term.column!r}: ONNX has no points in time; pass the {coding.part} as a number")
        if isinstance(coding, Names) and coding.kind == TEXT:
            return self._place(term.column, coding.names, value, unseen)
        if isinstance(coding, Above):
            return graph.cast(graph.add("Greater", value, graph.constant([coding.threshold])), "int64")
        if isinstance(coding, Bins):
            reached = graph.add("GreaterOrEqual", value, graph.constant([coding.ends]))
            return graph.row_sums(graph.cast(reached, "int64"))
        if isinstance(coding, Whole):
            size = graph.constant([float(coding.size)])
            above = graph.add("GreaterOrEqual", value, graph.constant([0.0]))
            known = graph.add("And", above, graph.add("Less", value, size))
            return graph.cast(graph.add("Where", known, value, size), "int64")
        assert isinstance(coding, Names)
        same = graph.add("Equal", value, graph.constant([list(map(float, coding.names))]))
        places = graph.constant([np.arange(len(coding.names)) - unseen], np.int64)
        place = graph.row_sums(graph.add("Mul", graph.cast(same, "int64"), places))
        return graph.add("Add", place, graph.constant([unseen], np.int64))

    def _place(self, column: str, names: Sequence[str], value: str, unseen: int) -> str:
        if "" in names:
            raise InputError(
                f"column {column!r}: the empty text is a category, and stands for a missing value in ONNX; give it "
                "another name"
            )
        if not names:
            return self.graph.constant([[unseen]], np.int64)
        return self.graph.add(
            "LabelEncoder", value, domain="ai.onnx.ml", keys_strings=list(names),
            values_int64s=list(range(len(names))), default_int64=unseen,
        )  # fmt: skip

    # --- numbers

    def _sums(self, term: Sums) -> None:
        """Add the product of columns and weights; a missing value is 0, and has weights of its own."""
        graph = self.graph
        whole = self.array is not None and not self.inputs
        X = "X" if whole else graph.add("Concat", *(self.inputs[name] for name in term.columns), axis=1)
        missing = graph.add("IsNaN", X)
        if term.threshold is None:
            X = graph.add("Where", missing, graph.constant([0.0]), X)
        else:
            X = graph.cast(graph.add("Greater", X, graph.constant([term.threshold])), "double")
        self._both(term.weights, lambda weights: graph.add("MatMul", X, graph.constant(weights)))
        self._both(term.base, lambda base: graph.constant([base]))
        if term.missing is not None:
            mask = graph.cast(missing, "double")
            self._both(term.missing, lambda weights: graph.add("MatMul", mask, graph.constant(weights)))

    def _densities(self, terms: list[Densities]) -> None:
        """Add the densities of columns of one family, where they are known."""
        graph, family, columns = self.graph, terms[0].family, [term.column for term in terms]
        parameters = tuple(np.stack(values) for values in zip(*(term.parameters for term in terms), strict=True))
        known = np.isfinite(parameters[-1])
        x = graph.add("Concat", *(self.inputs[name] for name in columns), axis=1)
        x = graph.add("Unsqueeze", x, graph.constant([2], np.int64))
        try:
            node = formula(family.log_density, tuple(np.where(known, values, 1.0) for values in parameters))
            density = written(graph, node, x)
        except Unwritable as error:
            raise InputError(
                f"column {columns[0]!r}: the density of {type(family).__name__} needs a function that ONNX has not "
                f"({error}); take the column for another family (columns=)"
            ) from None
        inside = graph.add("And", self._supported(x, family.support), graph.constant(known[None], np.bool_))
        density = graph.add("Where", inside, density, graph.constant([0.0]))
        self.finite.append(graph.add("ReduceSum", density, graph.constant([1], np.int64), keepdims=0))

    def _supported(self, x: str, support: Any) -> str:
        """Return whether numbers are there, and in the support of a density."""
        graph = self.graph
        inside = graph.add("Not", graph.add("IsNaN", x))
        above = "GreaterOrEqual" if support.closed else "Greater"
        for operator, limit in (("Less", support.high), (above, support.low)):
            if np.isfinite(limit):
                inside = graph.add("And", inside, graph.add(operator, x, graph.constant([limit])))
        return graph.add("And", inside, graph.add("Equal", x, graph.add("Floor", x))) if support.whole else inside

    # --- texts

    def _words(self, term: Words) -> None:
        """Add the weights of the words of texts. A text alone may be empty; in a table, an empty one is missing."""
        graph, text = self.graph, self.inputs[term.column]
        if self.texts == "counts":
            found = (text, np.arange(len(term.words))) if term.words else None
        else:
            found = counts_of(graph, term, text)
        if found is not None:
            counts, words = found
            X = weighted(graph, term, counts, None if term.idf is None else term.idf[words])
            self._both(term.weights, lambda weights: graph.add("MatMul", X, graph.constant(weights[words])))
        if self.texts == "counts" or len(self.terms.terms) == 1:
            self._both(term.base, lambda base: graph.constant([base]))
            return
        there = graph.cast(graph.add("Not", self._is_missing(term.column, TEXT)), "double")
        self._both(term.base, lambda base: graph.add("Mul", there, graph.constant([base])))

    # --- scores

    def chances(self) -> tuple[str, str]:
        """Return the place of the most probable class of each row, and the probabilities of all."""
        graph, terms, out = self.graph, self.terms, self.graph.constant([_BARRED])
        never = np.isneginf(terms.prior)
        barred = graph.constant([never & ~never.all()], np.bool_)
        scores = self._total([*self.finite, graph.constant([np.where(never, 0.0, terms.prior)])])
        if self.impossible:
            zeros = graph.add("Where", barred, graph.constant([1e300]), self._total(self.impossible))
            least = graph.add("Neg", graph.row_highest(graph.add("Neg", zeros)))
            limit = graph.add("Add", least, graph.constant([1e-9]))
            scores = graph.add("Where", graph.add("Greater", zeros, limit), out, scores)
        scores = graph.add("Where", barred, out, scores)
        below = graph.add("Sub", scores, graph.row_highest(scores))
        if terms.temperature != 1:
            below = graph.add("Div", below, graph.constant([terms.temperature]))
        if terms.offsets is not None:
            moved = graph.add("Add", below, graph.constant([terms.offsets]))
            below = graph.add("Sub", moved, graph.row_highest(moved))
        powers = graph.add("Exp", below)
        place = graph.add("ArgMax", below, axis=1, keepdims=0)
        return place, graph.add("Div", powers, graph.row_sums(powers), output="probabilities")

    def _total(self, parts: list[str]) -> str:
        return reduce(lambda a, b: self.graph.add("Add", a, b), parts)
