"""Mixed: a model of several blocks over the same rows, whose scores add up."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import add
from typing import Any, ClassVar

import numpy as np

from naively.arrays import Array, Value, close, whole
from naively.count.column_counts import Numbers
from naively.count.columns import Categories
from naively.count.ledger import Ledger, Uncounted
from naively.count.tally import rows_left, spread
from naively.errors import InputError
from naively.families.base import remainder, rows_per_class
from naively.families.blocks.base import Block
from naively.families.blocks.block_sum import BlockSum
from naively.families.codes import CodeCounts, OwnCodes, code_table
from naively.families.columns.numeric import NumberTable, joined_shares
from naively.families.counts_left_out import Left
from naively.names import Index
from naively.read.columns import missing
from naively.read.frame import Frame
from naively.read.matrix import RowError
from naively.score.scores import Scores
from naively.score.table import CodeTable, LinearTable, Shares
from naively.smooth.evidence import Draws
from naively.smooth.logs import Logs, added
from naively.smooth.rules import Settled, Smoothing
from naively.store.registry import stored
from naively.threads import on_threads

PART = 1 << 18
"""How many rows are read at a time."""


@stored()
@dataclass(frozen=True, eq=False, repr=False)
class BlockTally(Value):
    """What was seen by each block, and the rows of each class.

    `a + b` merges, `a - b` forgets, `a == b` compares, block by block.
    """

    classes: Index
    rows: Array
    parts: dict[str, Any]

    def __add__(self, other: BlockTally) -> BlockTally:
        mine, theirs, classes = self._aligned(other)
        parts = {name: part + other.parts[name] for name, part in self.parts.items()}
        return BlockTally(classes, whole(mine + theirs), parts)

    def __sub__(self, other: BlockTally) -> BlockTally:
        mine, theirs, classes = self._aligned(other)
        rows = rows_left(classes, mine, theirs)
        return BlockTally(classes, rows, {name: part - other.parts[name] for name, part in self.parts.items()})

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BlockTally):
            return NotImplemented
        try:
            mine, theirs, _ = self._aligned(other)
        except InputError:
            return False
        return close(mine, theirs) and all(part == other.parts[name] for name, part in self.parts.items())

    __hash__ = None  # type: ignore[assignment]

    def _aligned(self, other: BlockTally) -> tuple[Array, Array, Index]:
        if not isinstance(other, BlockTally) or self.parts.keys() != other.parts.keys():
            theirs = list(other.parts) if isinstance(other, BlockTally) else type(other).__name__
            raise InputError(
                f"blocks {list(self.parts)} and {theirs} cannot be put together; count with the same columns="
            )
        classes, moved = self.classes.union(other.classes, "classes")
        return spread(self.rows, classes.size, None), spread(other.rows, classes.size, moved), classes

    @property
    def size(self) -> int:
        """How many numbers it holds."""
        return sum(part.size for part in self.parts.values()) + self.classes.size

    @property
    def features(self) -> dict[str, Any]:
        """The features of each block; None where they are known beforehand."""
        return {name: getattr(part, "features", None) for name, part in self.parts.items()}

    def to_arrow(self) -> dict[str, Any]:
        """As tables of Arrow: the rows of each class, and one or two for each block."""
        from naively.count.arrow import rows_to_arrow

        tables = {"rows": rows_to_arrow(self.classes, self.rows)}
        for name, part in self.parts.items():
            made = part.to_arrow()
            tables |= (
                {f"{name}/{key}": value for key, value in made.items()} if isinstance(made, dict) else {name: made}
            )
        return tables

    @classmethod
    def from_arrow(cls, tables: dict[str, Any]) -> BlockTally:
        """From what `to_arrow` made."""
        from naively.count.arrow import from_arrow, rows_from_arrow

        if not isinstance(tables, dict) or "rows" not in tables:
            raise InputError("expected the tables that to_arrow() made, by name")
        classes, rows = rows_from_arrow(tables["rows"])
        parts: dict[str, Any] = {}
        for name, table in tables.items():
            if name == "numbers/moments":
                parts["numbers"] = Numbers.from_arrow({k: tables.get(f"numbers/{k}") for k in ("moments", "grid")})
            elif name not in ("rows", "numbers/grid"):
                parts[name] = from_arrow(table)
        for name, part in parts.items():
            if (
                classes.names is None
                or part.classes.names is None
                or part.classes.names.tolist() != classes.names.tolist()
            ):
                raise InputError(f"from Arrow: block {name!r} has other classes than the model")
        return cls(classes, rows, parts)

    def without_classes(self, gone: Array) -> BlockTally:
        """Without some classes (a mask), of which nothing is left."""
        assert self.classes.names is not None
        classes = Index.of(self.classes.names[~gone])
        return BlockTally(classes, self.rows[~gone], {n: part.without_classes(gone) for n, part in self.parts.items()})

    def __repr__(self) -> str:
        lines = [f"BlockTally({self.rows.sum():_g} rows, {self.classes.size:_} classes"]
        return ",\n  ".join([*lines, *(f"{name}: {part!r}" for name, part in self.parts.items())]) + ")"


@stored()
@dataclass(frozen=True, eq=False)
class BlockLedger(Value):
    """The growing sum of a mixed model: a ledger for each block, and the rows of each class."""

    classes: Index
    rows: Array
    parts: dict[str, Ledger]

    @classmethod
    def of(cls, tally: BlockTally) -> BlockLedger:
        return cls(tally.classes, tally.rows, {name: Ledger((part,)) for name, part in tally.parts.items()})

    @cached_property
    def total(self) -> BlockTally:
        """The sum as one value."""
        return BlockTally(self.classes, self.rows, {name: ledger.total for name, ledger in self.parts.items()})

    @property
    def features(self) -> dict[str, Any]:
        """The features of each block; None where they are known beforehand."""
        return {name: _features(ledger) for name, ledger in self.parts.items()}

    def add(self, value: BlockTally) -> BlockLedger:
        rows = whole(spread(self.rows, value.classes.size, None) + value.rows)
        return BlockLedger(value.classes, rows, {n: part.add(value.parts[n]) for n, part in self.parts.items()})

    def subtract(self, value: BlockTally) -> BlockLedger:
        """Raises, and changes nothing, where the value was not part of the sum."""
        rows = rows_left(self.classes, self.rows, spread(value.rows, self.classes.size, None))
        return BlockLedger(self.classes, rows, {n: part.subtract(value.parts[n]) for n, part in self.parts.items()})


def _features(ledger: Ledger) -> Any:
    """Those of a ledger; of one that lies in a file, without a look at its counts."""
    if "features" in ledger.__dict__:
        return ledger.__dict__["features"]
    return ledger.features if hasattr(ledger.levels[0], "features") else None


@stored()
@dataclass(frozen=True)
class Mixed:
    """The family of all blocks together. `informative`: whether it says something that a value is missing."""

    who: str
    blocks: tuple[Block, ...]
    informative: bool = False

    needs_count_histogram: ClassVar[bool] = False
    ignores_prior: ClassVar[bool] = False

    def no_features(self) -> dict[str, Any]:
        return {block.name: block.no_features() for block in self.blocks}

    def empty(self, classes: Index, features: dict[str, Any]) -> BlockTally:
        parts = {block.name: block.family.empty(classes, features[block.name]) for block in self.blocks}
        return BlockTally(classes, np.zeros(classes.size, np.int64), parts)

    def count(
        self, X: Frame, codes: Array, classes: Index, features: dict[str, Any], weight: Array | None
    ) -> BlockTally:
        def count(task: tuple[int, Frame]) -> BlockTally:
            begin, part = task
            rows = slice(begin, begin + len(part))
            of_part = None if weight is None else weight[rows]
            try:
                return self._count_part(part, codes[rows], classes, features, of_part)
            except RowError as error:
                raise error.offset(begin) from None

        tallies = on_threads(count, list(X.parts(PART)), X.rows * len(X.columns))
        while len(tallies) > 1:  # two by two, so that what has been added up is not gone through for every part
            tallies = [reduce(add, tallies[i : i + 2]) for i in range(0, len(tallies), 2)]
        return tallies[0] if tallies else self.empty(classes, features)

    def _count_part(
        self, X: Frame, codes: Array, classes: Index, features: dict[str, Any], weight: Array | None
    ) -> BlockTally:
        parts: dict[str, Any] = {}
        for block in self.blocks:
            parts[block.name] = block.count(X, codes, classes, features[block.name], weight)
        return BlockTally(classes, rows_per_class(codes, weight, classes.size), parts)

    def table(self, ledger: BlockLedger, rule: Smoothing, prior: Array, features: Array | None = None) -> MixedTable:
        """Of whole tables; a model that has just learnt a row may score without them."""
        nothing = np.zeros(ledger.classes.size)
        tables = {b.name: b.family.table(ledger.parts[b.name], b.rule(rule), nothing) for b in self.blocks}
        return MixedTable(self, ledger, prior, tables, self.presence(ledger, rule))

    def left_out(
        self, ledger: BlockLedger, rules: Sequence[Smoothing], X: Frame, codes: Array, weight: Array | None
    ) -> Left:
        """The sum of what the blocks come to."""
        features = ledger.features
        parts: list[Left] = [[(np.zeros((len(X), ledger.classes.size)), None) for _ in rules]]
        for block in self.blocks:
            rows = block.read(X, features[block.name])
            of_block = [block.rule(rule) for rule in rules]
            parts.append(block.family.left_out(ledger.parts[block.name], of_block, rows, codes, weight))
        if self.informative:
            parts.append([self._presence_left_out(ledger, rule, X, codes, weight) for rule in rules])
        return [added(of_rule) for of_rule in zip(*parts, strict=True)]

    def _presence_left_out(
        self, ledger: BlockLedger, rule: Smoothing, X: Frame, codes: Array, weight: Array | None
    ) -> Logs:
        presence = self.presence(ledger, rule)
        assert presence is not None
        found = presence.codes(X)
        each = np.ones(len(codes)) if weight is None else weight.astype(np.float64)
        own = OwnCodes.of(presence.counted(presence.counts, ledger.rows), found, codes, each)
        return own.left_out(presence.table, presence.rule, found)

    def summed(
        self,
        X: Frame,
        ledger: BlockLedger,
        prior: Array,
        weigh: Callable[[Block, Any], tuple[Any, Any]],
        presence: Presence | None,
    ) -> BlockSum:
        """What all blocks make of these rows; `weigh` finds the table of a block for the rows it has read."""
        features = ledger.features
        parts = [weigh(block, block.read(X, features[block.name])) for block in self.blocks]
        if presence is not None:
            parts.append((presence.table, presence.codes(X)))
        return BlockSum(len(X), ledger.classes, prior, parts)

    def presence(self, ledger: BlockLedger, rule: Smoothing) -> Presence | None:
        """The table of what being missing says."""
        if not self.informative:
            return None
        names: list[str] = []
        lost: list[Array] = []
        for block in self.blocks:
            counts = block.lost(ledger.parts[block.name], ledger.rows)
            if counts is not None:
                names += block.sources
                lost += list(counts)
        return Presence.of(self.who, ledger.classes, ledger.rows, names, lost, rule)

    def n_parameters(self, tally: BlockTally) -> int:
        return sum(block.family.n_parameters(tally.parts[block.name]) for block in self.blocks)

    def n_parameters_joint(self, tally: BlockTally) -> int | float:
        """One for each combination of what the blocks tell apart; infinite where a column holds numbers of events."""
        classes = tally.classes.size
        each = [block.family.n_parameters_joint(tally.parts[block.name]) for block in self.blocks]
        if math.inf in each:
            return math.inf
        return classes * (math.prod(int(joint) // classes + 1 for joint in each) - 1)

    def sample(
        self, tally: BlockTally, rule: Smoothing, klass: int, size: int, rng: np.random.Generator
    ) -> dict[str, Any]:
        """Columns drawn from one class."""
        columns: dict[str, Any] = {}
        for block in self.blocks:
            part = tally.parts[block.name]
            drawn = block.family.sample(part, block.rule(rule), klass, size, rng)
            columns |= block.columns_of(drawn, getattr(part, "features", None))
        return columns


@stored()
@dataclass(frozen=True, eq=False)
class Presence(Value):
    """What it says of the class that a value is missing: a yes or no for each column."""

    names: tuple[str, ...]
    table: CodeTable
    counts: Array  # how often each value is there and missing, by classes
    rule: Settled

    @classmethod
    def of(
        cls, who: str, classes: Index, rows: Array, names: list[str], lost: list[Array], rule: Smoothing
    ) -> Presence:
        gone = np.array(lost).reshape(len(names), classes.size)
        counts = (
            np.stack([remainder(rows, gone), gone], axis=1).reshape(2 * len(names), classes.size).astype(np.float64)
        )
        counted = cls.counted(counts, rows)
        settled = rule.settle(lambda: Draws.of(counts, counted.known, 2.0))
        columns = Categories(Index.of([f"{name} missing" for name in names]), (Index(2),) * len(names))
        logs = counted.logs(settled)
        table = code_table(who, classes, columns, np.zeros(classes.size), np.full(len(names), 2), logs)
        return cls(tuple(names), table, counts, settled)

    @staticmethod
    def counted(counts: Array, rows: Array) -> CodeCounts:
        """Return the counts of yes and no for each column; `rows` are those of each class."""
        columns = len(counts) // 2
        known = np.broadcast_to(rows.astype(np.float64), (columns, len(rows)))
        return CodeCounts(counts, np.repeat(np.arange(columns), 2), known, np.full(columns, 2))

    @property
    def lost(self) -> tuple[list[str], list[Array]]:
        """The columns, and how often each is missing, by classes."""
        return list(self.names), list(self.counts[1::2])

    def codes(self, X: Frame) -> Array:
        """1 where a value is missing."""
        result = np.empty((len(X), len(self.names)), np.uint8)
        for j, name in enumerate(self.names):
            result[:, j] = missing(X.get(name))
        return result


@stored()
@dataclass(frozen=True, eq=False)
class MixedTable(Value):
    """The tables of all blocks."""

    family: Mixed
    ledger: BlockLedger
    prior: Array
    tables: dict[str, Any]
    presence: Presence | None = None

    def to_save(self) -> MixedTable:
        """Without counts."""
        ledger: Any = Uncounted(self.ledger.classes, self.ledger.rows, self.ledger.features)
        return replace(self, ledger=ledger)

    @property
    def classes(self) -> Index:
        return self.ledger.classes

    @property
    def ignored(self) -> list[str]:
        """Columns that add the same to every class, whatever their value: of one bin, one category or one number."""
        return [name for block in self.family.blocks for name in sorted(_ignored(self.tables[block.name]))]

    def score(self, X: Frame) -> Scores:
        def weigh(block: Block, rows: Any) -> tuple[Any, Any]:
            return self.tables[block.name], rows

        return self.family.summed(X, self.ledger, self.prior, weigh, self.presence).scores()

    def shares(self, X: Frame) -> Shares:
        features = self.ledger.features
        parts: list[Shares] = []
        for block in self.family.blocks:
            table, rows = self.tables[block.name], block.read(X, features[block.name])
            # In a column of numbers of events, 0 is a value like any other.
            found = table.shares(rows, zeros=True) if isinstance(table, LinearTable) else table.shares(rows)
            parts.append(_without(found, _ignored(table), block))
        if self.presence is not None:
            parts.append(self.presence.table.shares(self.presence.codes(X)))
        return joined_shares(parts, self.classes.size)


def _ignored(table: Any) -> set[str]:
    """The columns of a block that add the same to every class, whatever their value."""
    if isinstance(table, NumberTable):
        return table.ignored
    if isinstance(table, CodeTable):
        return {table.categories.columns.name(j) for j in np.flatnonzero(table.sizes <= 1).tolist()}
    return set()


def _without(found: Shares, ignored: set[str], block: Block) -> Shares:
    """The shares of a block, by name, without those of ignored columns."""
    names, shares, impossible = found
    kept = [i for i, name in enumerate(names) if name not in ignored]
    return block.labelled([names[i] for i in kept]), shares[kept], None if impossible is None else impossible[kept]
