"""Blocks: a model of a table is a few groups of columns, each read, counted and weighed by one family."""

from naively.blocks.base import Block
from naively.blocks.categories import CategoryBlock, CategoryColumn
from naively.blocks.matrix import MatrixBlock
from naively.blocks.mixed import BlockLedger, BlockTally, Mixed
from naively.blocks.numbers import NumberBlock
from naively.blocks.text import TextBlock

__all__ = [
    "Block", "BlockLedger", "BlockTally", "CategoryBlock", "CategoryColumn", "MatrixBlock", "Mixed", "NumberBlock",
    "TextBlock",
]  # fmt: skip
