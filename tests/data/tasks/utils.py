"""Helpers named by !function in the YAML files of this folder."""

from __future__ import annotations

import re


def keep_long_enough(dataset):
    """Drop rows whose note has fewer than four words (datasets.Dataset in, datasets.Dataset out)."""
    return dataset.filter(lambda row: len(row["note"].split()) >= 4)


def summary_prompt(doc):
    return f"Note ({doc['lang']}): {doc['note']}\nSummary:"


def summary_target(doc):
    return doc["summary"]


def _units(text):
    # words for spaced scripts, single characters for CJK
    return re.findall(r"[\u3040-\u30ff\u4e00-\u9fff]|\w+", text.lower())


def _f(p, r):
    return 2 * p * r / (p + r) if p + r else 0.0


def _lcs(a, b):
    row = [0] * (len(b) + 1)
    for x in a:
        prev = 0
        for j, y in enumerate(b, 1):
            prev, row[j] = row[j], (prev + 1 if x == y else max(row[j], row[j - 1]))
    return row[-1]


def overlap_scores(doc, results):
    pred, ref = results[0].strip(), doc["summary"]
    if len(pred) < 5 or len(ref) < 5:
        return {"rouge1": float("nan"), "rougeL": float("nan"), "copied": 0}
    p, r = _units(pred), _units(ref)
    common = sum(min(p.count(w), r.count(w)) for w in set(p))
    lcs = _lcs(p, r)
    return {
        "rouge1": _f(common / len(p), common / len(r)),
        "rougeL": _f(lcs / len(p), lcs / len(r)),
        "copied": int(pred in doc["note"]),
    }


def share_of_ones(items):
    return sum(1 for x in items if x == 1) / len(items)


def between_stars(resps, docs):
    """Custom filter: gets every document's list of responses and the documents."""
    out = []
    for answers in resps:
        found = [re.findall(r"\*(.+?)\*", a) for a in answers]
        out.append([f[0].lower() if f else "" for f in found])
    return out


def edit_close(references, predictions, **kwargs):
    """1.0 when the prediction is within one edit of the reference."""
    a, b = references[0], predictions[0]
    d = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        prev, d[0] = d[0], i
        for j, y in enumerate(b, 1):
            prev, d[j] = d[j], min(d[j] + 1, d[j - 1] + 1, prev + (x != y))
    return 1.0 if d[-1] <= 1 else 0.0


def blank_index(doc):
    return int(doc["right"])


def blank_contexts(doc):
    return [doc["start"].replace("___", w) for w in (doc["one"], doc["two"])]
