"""What immutable values have in common."""

from __future__ import annotations

from dataclasses import fields
from typing import Any


class Value:
    """A frozen dataclass that is pickled by its fields alone, without what was derived from them and kept."""

    def __getstate__(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
