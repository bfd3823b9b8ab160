"""Files: arrays and what they mean in one file, read where it lies, written whole or not at all."""

from naively.files.atomic import replacing
from naively.files.codec import Reader, Writer
from naively.files.container import Contents, is_model, read, write
from naively.files.locks import locked

__all__ = ["Contents", "Reader", "Writer", "is_model", "locked", "read", "replacing", "write"]
