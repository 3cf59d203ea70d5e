"""Datasets: files, lists and callables become cases, and cases become files.

Every scalar keeps the text it was written as, every row its file and line; a broken
row is refused, never dropped.
"""

from __future__ import annotations

from pytest_llmeval.datasets._ids import check_node_ids, label_ids, node_id
from pytest_llmeval.datasets._json import json_text, read_json
from pytest_llmeval.datasets._load import cases_from, load_cases
from pytest_llmeval.datasets._read import read_rows
from pytest_llmeval.datasets._write import write_cases

__all__ = [
    "cases_from",
    "check_node_ids",
    "json_text",
    "label_ids",
    "load_cases",
    "node_id",
    "read_json",
    "read_rows",
    "write_cases",
]
