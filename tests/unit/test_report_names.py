from __future__ import annotations

import pytest

from pytest_llmeval.report.names import case_name


@pytest.mark.parametrize(
    ("nodeid", "name"),
    [
        ("a/test_a.py::TestX::test_y[peru]", "TestX::test_y[peru]"),
        (r"test_a.py::test_y[\u65e5\u672c-small]", "test_y[日本-small]"),
        (r"test_a.py::test_日本[\U0001f5fc-1]", "test_日本[🗼-1]"),
        (r"test_a.py::test_y[日本 \u65e5]", r"test_y[日本 \u65e5]"),
        (r"test_a.py::test_y[C:\users]", r"test_y[C:\users]"),
        (r"test_a.py::test_y[a\\b]", r"test_y[a\b]"),
        ("test_a.py", "test_a.py"),
        ("", ""),
    ],
)
def test_a_name_has_its_own_letters(nodeid: str, name: str) -> None:
    assert case_name(nodeid) == name
