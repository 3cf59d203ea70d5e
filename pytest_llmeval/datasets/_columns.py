"""Which column is which field of a case: by alias, by mapping, by preset."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from pytest_llmeval.datasets._presets import PRESETS, Preset
from pytest_llmeval.errors import DatasetError, did_you_mean

__all__ = ["Columns", "Layout", "columns_of"]

#: The fields of a Case a row can fill, and the columns each is found under.
ALIASES: Final[Mapping[str, tuple[str, ...]]] = {
    "id": ("id",),
    "input": ("input", "question", "query", "prompt"),
    "expected": (
        "expected",
        "answer",
        "target",
        "targets",
        "reference",
        "expected_output",
        "ideal",
    ),
    "context": ("context",),
    "choices": ("choices",),
    "label": ("label",),
    "labels": ("labels",),
    "better": ("better",),
    "rejected": ("rejected",),
    "tags": ("tags",),
    "skip": ("skip",),
    "xfail": ("xfail",),
    "must_pass": ("must_pass",),
}

#: Fields that hold any JSON value.
FREE: Final = frozenset({"input", "expected", "context", "better", "rejected"})

_Read = Callable[[Any, str], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Where the fields of rows with the same columns come from."""

    plain: tuple[tuple[str, str], ...]
    """Field and column."""
    paths: tuple[tuple[str, str], ...]
    """Field and dotted path, looked up in every row."""
    converted: tuple[tuple[str, str, _Read], ...]
    """Field, column, and the preset's reading of it."""
    checked: tuple[str, ...]
    """The fields found that must be of some type."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """How the user said columns are called."""

    mapping: Mapping[str, str] = field(default_factory=dict)
    preset: Preset | None = None
    first: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Columns that are a field's where they are there, before all others."""

    def layout(self, names: Sequence[str]) -> Layout:
        """Return where the fields come from in a row with these columns.

        Raises:
            DatasetError: Two columns could be the same field, or one that is needed
                is not there. The text lacks the place of the row.
        """
        plain: list[tuple[str, str]] = []
        paths: list[tuple[str, str]] = []
        converted: list[tuple[str, str, _Read]] = []
        for name in ALIASES:
            if name in self.mapping:
                path = self.mapping[name]
                (plain if path in names else paths).append((name, path))
                continue
            column = self._column(name, names)
            if column is None:
                continue
            read = self.preset.readers.get(name) if self.preset else None
            if read is None:
                plain.append((name, column))
            else:
                converted.append((name, column, read))
        found = [name for name, _ in (*plain, *paths)]
        found += [name for name, _, _ in converted]
        return Layout(
            plain=tuple(plain),
            paths=tuple(paths),
            converted=tuple(converted),
            checked=tuple(name for name in found if name not in FREE),
        )

    def _column(self, name: str, names: Sequence[str]) -> str | None:
        if early := [column for column in self.first.get(name, ()) if column in names]:
            return early[0]
        aliases = ALIASES[name]
        if self.preset is not None:
            aliases = self.preset.aliases.get(name, aliases)
        found = [alias for alias in aliases if alias in names]
        if found and self.preset is not None and name in self.preset.first_wins:
            return found[0]
        if len(found) > 1:
            used = {
                path if path in names else path.partition(".")[0]
                for path in self.mapping.values()
            }
            free = [alias for alias in found if alias not in used]
            if len(free) != 1:
                raise DatasetError(_two_columns(name, found))
            return free[0]
        if not found and self.preset is not None and name in self.preset.required:
            message = (
                f"the preset {self.preset.name!r} reads {name!r} from a column called "
                f"{' or '.join(aliases)}, and there is none; columns: "
                f"{', '.join(names) or 'none'}"
            )
            raise DatasetError(message)
        return found[0] if found else None


def _two_columns(name: str, found: list[str]) -> str:
    return (
        f"{' and '.join(map(repr, found))} could each be the case's {name}: say which, "
        f"columns={{{name!r}: {found[0]!r}}}"
    )


def columns_of(
    columns: Any, first: Mapping[str, tuple[str, ...]] | None = None
) -> Columns:
    """Return what `columns=` says, checked.

    Args:
        columns: A mapping from fields of ours to columns, or the name of a preset.
        first: Columns that a field is read from first, where there is no preset.

    Raises:
        DatasetError: There is no such field or preset, or a path is no text.
    """
    if columns is None:
        return Columns(first=first or {})
    if isinstance(columns, str):
        if columns not in PRESETS:
            message = (
                f"there is no preset {columns!r}{did_you_mean(columns, PRESETS)}; "
                f"presets: {', '.join(PRESETS)}; one column is mapped as "
                f"columns={{'input': {columns!r}}}"
            )
            raise DatasetError(message)
        return Columns(preset=PRESETS[columns])
    if not isinstance(columns, Mapping):
        message = (
            f"columns= is a mapping {{our_field: 'their.path'}} or a preset "
            f"({', '.join(PRESETS)}), not {columns!r}"
        )
        raise DatasetError(message)
    for name, path in columns.items():
        _check_pair(name, path)
    return Columns(mapping=dict(columns), first=first or {})


def _check_pair(name: object, path: object) -> None:
    if name not in ALIASES:
        message = (
            f"columns= maps {name!r}, and a case has no such field"
            f"{did_you_mean(str(name), ALIASES)}; fields: {', '.join(ALIASES)}"
        )
        raise DatasetError(message)
    if not isinstance(path, str) or not path:
        message = (
            f"columns= maps {name!r} to {path!r}: give the column's name or a dotted "
            f"path as text"
        )
        raise DatasetError(message)
