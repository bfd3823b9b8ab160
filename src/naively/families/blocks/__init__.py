"""Blocks: a model is a few groups of columns, each read, counted and weighed by one family."""

from naively.families.blocks.base import Block
from naively.families.blocks.blocks import Blocks
from naively.families.blocks.categories import CategoryBlock, CategoryColumn
from naively.families.blocks.category_array import CategoryArrayBlock
from naively.families.blocks.matrix import ArrayBlock, MatrixBlock
from naively.families.blocks.number_columns import NumberBlock
from naively.families.blocks.text import TextBlock, TextsBlock

__all__ = [
    "ArrayBlock", "Block", "Blocks", "CategoryArrayBlock", "CategoryBlock", "CategoryColumn", "MatrixBlock",
    "NumberBlock", "TextBlock", "TextsBlock",
]  # fmt: skip
