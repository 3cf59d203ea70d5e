"""The one path from a case to a response, and from a response to a judge's word.

`Generator` and `Judge` are the façades that fixtures give to tests. They are made once
a session and look up, call by call, which case is running and what its marker says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_llmeval.evaluate._generator import Generator
    from pytest_llmeval.evaluate._given import (
        check_expected,
        check_reply,
        not_awaited,
        reply_text,
    )
    from pytest_llmeval.evaluate._judge import Judge, as_judge
    from pytest_llmeval.evaluate._stored import StoredReplies
    from pytest_llmeval.evaluate._wrong import WRONG_KINDS, wrong_replies
else:
    from pytest_llmeval.late import late

    __getattr__ = late(
        __name__,
        {
            "Generator": "_generator",
            "Judge": "_judge",
            "StoredReplies": "_stored",
            "WRONG_KINDS": "_wrong",
            "as_judge": "_judge",
            "check_expected": "_given",
            "check_reply": "_given",
            "not_awaited": "_given",
            "reply_text": "_given",
            "wrong_replies": "_wrong",
        },
    )

__all__ = [
    "WRONG_KINDS",
    "Generator",
    "Judge",
    "StoredReplies",
    "as_judge",
    "check_expected",
    "check_reply",
    "not_awaited",
    "reply_text",
    "wrong_replies",
]
