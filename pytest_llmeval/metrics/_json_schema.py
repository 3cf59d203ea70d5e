"""A JSON value held against a JSON Schema, by jsonschema (extra ``json``)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any, Final

from pytest_llmeval.diffs import cut, printable
from pytest_llmeval.errors import ConfigError
from pytest_llmeval.metrics._extras import needed

__all__ = ["schema_check"]

#: Mistakes looked for in one value: a long list of wrong items has one each.
_AT_MOST: Final = 50


def schema_check(schema: Any) -> Callable[[Any], list[str]]:
    """Return what says, of a JSON value, where it breaks a schema: a line each place.

    The dialect is that of the schema's ``$schema``, by default 2020-12. References
    outside of the schema are never fetched; ``format`` is an annotation, as the
    specification has it.

    Args:
        schema: A mapping, or true or false.

    Raises:
        ConfigError: It is no valid schema; also when it is used, of a reference to
            what is not in it.
        MissingExtraError: jsonschema isn't installed.
    """
    if not isinstance(schema, Mapping | bool):
        message = (
            f"schema is a JSON Schema as a mapping, not {cut(repr(schema), 60)}; that "
            f"of a pydantic model is Model.model_json_schema()"
        )
        raise ConfigError(message)
    needed("jsonschema", extra="json", metric="json with schema=")
    from jsonschema.exceptions import SchemaError
    from jsonschema.validators import Draft202012Validator, extend, validator_for
    from referencing import Registry

    kind = validator_for(schema, default=Draft202012Validator)
    try:
        kind.check_schema(schema)  # type: ignore[arg-type]
    except SchemaError as exc:
        message = f"schema is no valid JSON Schema: {_place(exc)}: {exc.message}"
        raise ConfigError(cut(printable(message), 300)) from None
    except RecursionError:
        raise ConfigError("schema is nested too deeply") from None
    # A registry of nothing: the default one would fetch what it does not know.
    registry: Registry[Any] = Registry()
    keywords = {"uniqueItems": _unique_items}
    quick = extend(kind, keywords)  # type: ignore[no-untyped-call]
    return partial(_problems, quick(schema, registry=registry))


def _problems(validator: Any, value: Any) -> list[str]:
    from referencing.exceptions import Unresolvable

    try:
        found = list(islice(validator.iter_errors(value), _AT_MOST))
    except Unresolvable as exc:
        message = f"schema refers to {exc.ref!r}, which is not in it"
        raise ConfigError(message) from None
    except RecursionError:
        return ["$: nested too deeply to be held against the schema"]
    found.sort(key=lambda error: [str(part) for part in error.absolute_path])
    return list(_lines(found))


def _unique_items(
    validator: Any, is_asked: Any, items: Any, schema: Any
) -> Iterator[Any]:
    """Yield an error for a list with two equal items.

    jsonschema's own compares each with each where they are objects: a reply of 1 MB
    would take minutes.
    """
    from jsonschema.exceptions import ValidationError

    if is_asked and isinstance(items, list) and len(set(map(_key, items))) < len(items):
        yield ValidationError(f"{items!r} has non-unique elements")


def _key(value: Any) -> Any:
    """Return what is equal for equal JSON values, and can stand in a set."""
    if isinstance(value, Mapping):
        return ("object", frozenset((name, _key(v)) for name, v in value.items()))
    if isinstance(value, list):
        return ("list", tuple(map(_key, value)))
    return (type(value) is bool, value)


def _lines(errors: Sequence[Any]) -> Iterator[str]:
    from jsonschema.exceptions import best_match

    for error in errors:
        # Of "valid under none of these" the one that fits best says what is wrong.
        nearest = best_match([error]) or error
        yield f"{cut(_place(nearest), 32)}: {_message(nearest)}"


def _message(error: Any) -> str:
    """Return jsonschema's sentence, what it says of a large value cut."""
    text = error.message
    shown = repr(error.instance)
    if len(shown) > 40 and text.startswith(shown):
        text = cut(printable(shown), 40) + text[len(shown) :]
    return printable(text).replace("\n", "\\n")


def _place(error: Any) -> str:
    parts = [
        f"[{part}]" if isinstance(part, int) else f".{part}"
        for part in error.absolute_path
    ]
    return "$" + "".join(parts)
