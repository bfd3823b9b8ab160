"""The schema: what is counted of each column of a table, and by which family of texts and categories."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from naively.errors import InputError, nearest, warn_caller
from naively.families.blocks.base import Block
from naively.families.blocks.blocks import Blocks
from naively.families.blocks.categories import CategoryBlock, CategoryColumn
from naively.families.blocks.density_columns import DensityBlock
from naively.families.blocks.matrix import MatrixBlock
from naively.families.blocks.number_columns import NumberBlock
from naively.families.blocks.text import TextBlock
from naively.families.columns.declared import (
    Bernoulli,
    Categorical,
    Complement,
    Dates,
    Histogram,
    Kernel,
    Multinomial,
    Number,
    Poisson,
    Refitted,
    Rule,
    Text,
    Undeclared,
)
from naively.families.complement import Complement as ComplementFamily
from naively.families.densities import (
    Beta,
    Exponential,
    Gamma,
    Gaussian,
    Geometric,
    LogNormal,
    NegativeBinomial,
)
from naively.families.densities.base import NumberFamily
from naively.families.densities.columns import Densities
from naively.families.densities.covariance import GaussianModel
from naively.families.multinomial import Multinomial as MultinomialFamily
from naively.families.poisson import Poisson as PoissonFamily
from naively.families.words.block import Words
from naively.read.columns import (
    BOOLEAN,
    CATEGORY,
    NOTHING,
    NUMBER,
    TEXT,
    TIME,
    chunks,
    kind_of,
    missing,
    type_of,
)
from naively.read.frame import Frame
from naively.smooth.backgrounds import rule_of
from naively.smooth.rules import Smoothing
from naively.store.registry import stored

NO_VALUE = "no value to tell by"
MOST_ROWS = 1 << 16
"""Number of first rows that tell whether a column holds long texts."""
_SAMPLE = 256
_LONG_WORDS, _LONG = 3.0, 30.0


@stored()
@dataclass(frozen=True)
class ColumnPlan:
    """One column: its type, its family (None: left out), and the reason for it."""

    name: str
    type: str
    rule: Rule | None
    why: str
    boolean: bool = False


@stored()
@dataclass(frozen=True)
class Schema:
    """The blocks and families of all columns; the family of a column of numbers follows from its counts."""

    who: str
    columns: tuple[ColumnPlan, ...]
    groups: tuple[tuple[tuple[str, ...], Rule], ...]
    blocks: tuple[Block, ...]
    named: bool

    @classmethod
    def of(cls, frame: Frame, given: Any, who: str, words: Callable[[Text], Words]) -> Schema:
        """Return the schema of these first rows: given families, and guesses for the other columns."""
        single, groups = _checked_given(tuple(frame.columns), given)
        grouped = {name: rule for names, rule in groups for name in names}
        columns = []
        for name, values in frame.columns.items():
            if name in grouped:
                columns.append(replace(_given(name, values, grouped[name]), why="given, with others"))
            elif name in single:
                columns.append(_given(name, values, single[name]))
            else:
                columns.append(_guess(name, values))
        _refuse_clashes(columns)
        return cls(who, tuple(columns), groups, _blocks(columns, groups, who, words), frame.named)

    def blocks_of(self, *, informative: bool) -> Blocks:
        """Return the blocks; `informative`: a missing value counts as evidence."""
        return Blocks(self.who, self.blocks, informative)

    def joined(self, other: Schema) -> Schema:
        """Return the schema of the rows of both; a column of numbers that one does not have was missing there."""
        if self is other:
            return self
        mine, theirs = ({c.name: c for c in schema.columns} for schema in (self, other))
        for one, another in ((mine, theirs), (theirs, mine)):
            for name in one.keys() - another.keys():
                if not isinstance(one[name].rule, Undeclared) and one[name].why != NO_VALUE:
                    raise InputError(f"column {name!r} is in one table only; {_COUNT_ALIKE}")
        if set(self.groups) != set(other.groups) or self.named != other.named:
            raise InputError(f"the tables have other groups of columns, or names; {_COUNT_ALIKE}")
        columns = [_joined_plan(plan, theirs.get(plan.name, plan)) for plan in self.columns]
        return self._over([*columns, *(plan for plan in other.columns if plan.name not in mine)])

    def extended(self, frame: Frame) -> Schema:
        """Return the schema with columns of numbers that had no value before, or were not there."""
        known = {plan.name: plan for plan in self.columns}
        changed: dict[str, ColumnPlan] = {}
        for name, values in frame.columns.items():
            plan = known.get(name)
            if plan is None or plan.why == NO_VALUE or plan.rule == _FLAG:
                new = _guess(name, values) if kind_of(name, values) in (NUMBER, BOOLEAN) else None
                joined = new if new is None or plan is None else _joined_plan(plan, new)
                if joined is not None and joined != plan:
                    changed[name] = joined
        if not changed:
            return self
        return self._over([*(changed.pop(plan.name, plan) for plan in self.columns), *changed.values()])

    def redeclared(self, given: Any) -> Schema:
        """Return the schema with other families of columns that were counted value by value."""
        single, groups = _checked_given(tuple(column.name for column in self.columns), given)
        if set(groups) != set(self.groups):
            raise InputError("a group of columns says what is counted; fit again to change it")
        grouped = {name for names, _ in self.groups for name in names}
        return self._over([c if c.name in grouped else _redeclared(c, single) for c in self.columns])

    def _over(self, columns: list[ColumnPlan]) -> Schema:
        """Return the schema with these columns, of which those of numbers may differ."""
        grouped = {name for names, _ in self.groups for name in names}
        numbers = _numbers(columns, self.who, grouped)
        others = [block for block in self.blocks if not isinstance(block, NumberBlock)]
        first = 1 if others and isinstance(others[0], CategoryBlock) else 0
        blocks = (*others[:first], *numbers, *others[first:])
        return replace(self, columns=tuple(columns), blocks=blocks)

    def matched(self, frame: Frame) -> Frame:
        """Name columns as in the schema: columns without names take the known names in order."""
        names = [column.name for column in self.columns]
        if frame.named and not self.named and not frame.columns.keys() <= set(names):
            raise InputError(
                f"X has column names, but {self.who} was fitted on columns without; pass an array, or fit on a table "
                "with names"
            )
        if frame.named:
            return frame
        if len(frame.columns) != len(names):
            raise InputError(
                f"X has {len(frame.columns)} features, but {self.who} is expecting {len(names)} features as input"
            )
        if not self.named:
            return frame
        message = f"X does not have valid feature names, but {self.who} was fitted with feature names"
        warn_caller(message, UserWarning)
        return Frame(dict(zip(names, frame.columns.values(), strict=True)), frame.rows)

    def warn_of_new(self, frame: Frame) -> None:
        """Warn of the first column that is left out because it came after the schema was made."""
        known = {column.name: column for column in self.columns}
        for name, values in frame.columns.items():
            if name not in known:
                why = "was not there when the schema was settled, and is left out; fit again to use it"
            elif known[name].why == NO_VALUE and not missing(values).all():
                why = f"had no value when the schema was settled, and is left out; name it: columns={{{name!r}: ...}}"
            else:
                continue
            warn_caller(f"column {name!r} {why}")
            return


def _checked_given(
    columns: tuple[str, ...], given: Any
) -> tuple[dict[str, Rule | None], tuple[tuple[tuple[str, ...], Rule], ...]]:
    if given is None:
        return {}, ()
    if not isinstance(given, Mapping):
        raise InputError(f"columns must be a dict from column names to rules, got {type(given).__name__}")
    single: dict[str, Rule | None] = {}
    groups: list[tuple[tuple[str, ...], Rule]] = []
    seen: set[str] = set()
    for key, rule in given.items():
        names = tuple(map(_name, key if isinstance(key, tuple) else (key,)))
        if not names:
            raise InputError("columns= holds a group without columns: ()")
        for name in names:
            if name not in columns:
                raise InputError(f"columns= names {name!r}, which is not in the table{nearest(name, columns)}")
            if name in seen:
                raise InputError(f"columns= names {name!r} twice")
            seen.add(name)
        rule = _named_rule(key, rule) if isinstance(rule, str) else rule
        if rule is not None and not isinstance(rule, Rule):
            hint = f"; write {rule.__name__}()" if isinstance(rule, type) and issubclass(rule, Rule) else ""
            raise InputError(f"columns[{key!r}]: expected a rule such as Gaussian(), or None, got {rule!r}{hint}")
        together = isinstance(rule, Gaussian) and (isinstance(key, tuple) or rule.covariance != "diagonal")
        if rule is not None and (together or isinstance(rule, (Multinomial, Complement))):
            groups.append((tuple(names), rule))
        else:
            single |= dict.fromkeys(names, rule)
    return single, tuple(groups)


def _named_rule(key: Any, name: str) -> Rule:
    """Return the family of this name: "log normal", "LogNormal", "log_normal"."""
    known = {_plain(kind.__name__): kind for kind in _FAMILIES}
    if _plain(name) not in known:
        titles = [_title(kind()) for kind in _FAMILIES]
        raise InputError(f"columns[{key!r}]: no family is called {name!r}{nearest(name, titles)}; they are: {titles}")
    return known[_plain(name)]()


def _plain(name: str) -> str:
    return "".join(filter(str.isalnum, name)).lower()


def _name(name: Any) -> Any:
    """Return a name as text if it is a whole number, as in pandas."""
    return str(name) if isinstance(name, (int, np.integer)) and not isinstance(name, bool) else name


def _refuse_clashes(columns: list[ColumnPlan]) -> None:
    names = {column.name for column in columns}
    for column in columns:
        for part in column.rule.parts if isinstance(column.rule, Dates) else ():
            if f"{column.name}.{part}" in names:
                raise InputError(f"column '{column.name}.{part}' has the name of a part of {column.name!r}; rename it")


def _given(name: str, values: Any, rule: Rule | None) -> ColumnPlan:
    if rule is None:
        return ColumnPlan(name, type_of(values), None, "given")
    kind = kind_of(name, values)
    if kind not in (NOTHING, *rule.reads):
        raise InputError(f"column {name!r} holds {type_of(values)}, which {type(rule).__name__}() cannot read")
    if isinstance(rule, Dates):
        rule = Dates(_date_parts(values, rule.parts) or rule.parts)
    return ColumnPlan(name, type_of(values), rule, "given", boolean=kind == BOOLEAN)


def _guess(name: str, values: Any) -> ColumnPlan:
    kind = kind_of(name, values)
    type_name = type_of(values)
    if kind == NOTHING:
        return ColumnPlan(name, type_name, None, NO_VALUE)
    if kind == BOOLEAN:
        return ColumnPlan(name, type_name, _FLAG, "", boolean=True)
    if kind == CATEGORY:
        return ColumnPlan(name, type_name, Categorical(), "categories by type")
    if kind == TIME:
        return ColumnPlan(name, type_name, Dates(_date_parts(values, Dates().parts)), "points in time")
    if kind == TEXT:
        long = looks_long(values[:MOST_ROWS])
        return ColumnPlan(name, type_name, Text() if long else Categorical(), "long texts" if long else "short texts")
    assert kind == NUMBER
    return ColumnPlan(name, type_name, Undeclared(), "")


_FLAG = Undeclared(boolean=True)
_COUNTED_BY_VALUE = Undeclared, Refitted, Number, Histogram, Kernel
_OF_VALUES = Number, Histogram, Kernel, Categorical, Bernoulli, NumberFamily
"""Families that values which are counted one by one may be taken for."""
_FAMILIES: tuple[type[Rule], ...] = (
    Number, Gaussian, Histogram, Kernel, LogNormal, Exponential, Gamma, Beta, Geometric, NegativeBinomial, Categorical,
    Bernoulli, Poisson, Dates, Text, Multinomial, Complement,
)  # fmt: skip
"""Families that can be given by name: those that need no parameter."""
_COUNT_ALIKE = "compare their schema_, and fit them with the same columns="


def _joined_plan(mine: ColumnPlan, theirs: ColumnPlan) -> ColumnPlan:
    """Return the plan of a column that two tables have: numbers, if it holds true and false in one of them alone."""
    if theirs.why == NO_VALUE:
        return mine
    if mine.rule == theirs.rule:
        return replace(mine, boolean=mine.boolean and theirs.boolean)
    if mine.why == NO_VALUE or (mine.rule == _FLAG and theirs.rule == Undeclared()):
        return theirs
    if mine.rule == Undeclared() and theirs.rule == _FLAG:
        return mine
    raise InputError(
        f"column {mine.name!r} was taken for different things, {_title(mine.rule)} and {_title(theirs.rule)}; "
        f"{_COUNT_ALIKE}"
    )


def _redeclared(plan: ColumnPlan, given: Mapping[str, Rule | None]) -> ColumnPlan:
    """Return the plan of a column by what is declared now."""
    rule = given.get(plan.name)
    if isinstance(plan.rule, _COUNTED_BY_VALUE):
        if plan.name not in given:
            return replace(plan, rule=Undeclared(plan.boolean), why="")
        if rule is None or isinstance(rule, _OF_VALUES):
            return replace(plan, rule=Refitted(rule, plan.boolean), why="given")
    elif (plan.name not in given and plan.why != "given") or (plan.name in given and rule == plan.rule):
        return plan
    wanted = "what it looks like" if plan.name not in given else _title(rule)
    raise InputError(
        f"column {plan.name!r} was counted as {_title(plan.rule)}, so it cannot be taken for {wanted}; fit again"
    )


def _title(rule: Rule | None) -> str:
    return "left out" if rule is None else rule.label


def looks_long(values: Any) -> bool:
    """True if most values differ, and are long: several words, or thirty characters."""
    sample: list[str] = []
    for part in chunks(values):
        texts = part[: 2 * _SAMPLE].drop_null()[: _SAMPLE - len(sample)].to_pylist()
        sample += [value.decode("utf-8", "replace") if isinstance(value, bytes) else value for value in texts]
        if len(sample) >= _SAMPLE:
            break
    if not sample or len(set(sample)) * 2 <= len(sample):
        return False
    words = sum(len(text.split()) for text in sample) / len(sample)
    return words >= _LONG_WORDS or sum(map(len, sample)) / len(sample) >= _LONG


def _date_parts(values: Any, wanted: tuple[str, ...]) -> tuple[str, ...]:
    import pyarrow as pa

    if pa.types.is_date(values.type):
        return tuple(part for part in wanted if part != "hour")
    return tuple(part for part in wanted if part == "hour") if pa.types.is_time(values.type) else wanted


def _blocks(
    columns: list[ColumnPlan],
    groups: tuple[tuple[tuple[str, ...], Rule], ...],
    who: str,
    words: Callable[[Text], Words],
) -> tuple[Block, ...]:
    categories: list[CategoryColumn] = []
    densities: dict[NumberFamily, list[str]] = {}
    events: list[str] = []
    blocks: list[Block] = []
    grouped = {name for names, _ in groups for name in names}
    for column in columns:
        rule = column.rule
        if rule is None or column.name in grouped:
            continue
        if isinstance(rule, Categorical):
            categories.append(CategoryColumn(column.name, boolean=column.boolean))
        elif isinstance(rule, Bernoulli):
            categories.append(CategoryColumn(column.name, threshold=float(rule.threshold)))
        elif isinstance(rule, Dates):
            categories += [CategoryColumn(column.name, part=part) for part in rule.parts]
        elif isinstance(rule, Text):
            blocks.append(TextBlock(column.name, words(rule), _smoothing(rule.alpha)))
        elif isinstance(rule, Poisson):
            events.append(column.name)
        elif isinstance(rule, NumberFamily):
            densities.setdefault(rule, []).append(column.name)
    for family, names in reversed(densities.items()):
        blocks.insert(0, DensityBlock(family.title, tuple(names), Densities(who, family)))
    if events:
        blocks.insert(0, MatrixBlock("events", tuple(events), PoissonFamily(who)))
    blocks[:0] = _numbers(columns, who, grouped)
    if categories:
        blocks.insert(0, CategoryBlock(who, tuple(categories)))
    blocks += [_group(names, rule, who) for names, rule in groups]
    return tuple(blocks)


def _numbers(columns: list[ColumnPlan], who: str, grouped: set[str]) -> list[NumberBlock]:
    """Return the block of the columns of numbers that are counted value by value, if there are any."""
    rules = [(column.name, column.rule) for column in columns if column.name not in grouped]
    counted = tuple((name, rule) for name, rule in rules if isinstance(rule, _COUNTED_BY_VALUE))
    return [NumberBlock(who, counted)] if counted else []


def _group(names: tuple[str, ...], rule: Rule, who: str) -> MatrixBlock:
    title = f"{rule.label} {names!r}"
    if isinstance(rule, Multinomial):
        return MatrixBlock(title, names, MultinomialFamily(who))
    if isinstance(rule, Complement):
        return MatrixBlock(title, names, ComplementFamily(who))
    assert isinstance(rule, Gaussian)
    return MatrixBlock(title, names, GaussianModel(who, covariance=rule.covariance), (rule.var_smoothing, 0.0))


def _smoothing(alpha: Any) -> Smoothing | None:
    return None if alpha is None else rule_of(alpha)
