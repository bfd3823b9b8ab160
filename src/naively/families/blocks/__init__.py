"""Blocks: a model of a table is a few groups of columns, each read, counted and weighed by one family."""

from naively.families.blocks.base import Block
from naively.families.blocks.categories import CategoryBlock, CategoryColumn
from naively.families.blocks.matrix import MatrixBlock
from naively.families.blocks.mixed import BlockLedger, BlockTally, Mixed
from naively.families.blocks.number_columns import NumberBlock
from naively.families.blocks.text import TextBlock

__all__ = [
    "Block", "BlockLedger", "BlockTally", "CategoryBlock", "CategoryColumn", "MatrixBlock", "Mixed", "NumberBlock",
    "TextBlock",
]  # fmt: skip
