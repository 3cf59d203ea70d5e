"""Helpers named by !function in the YAML files of this folder."""

from __future__ import annotations

import re
from math import exp

import datasets


def hs_docs(dataset: datasets.Dataset) -> datasets.Dataset:
    def bare(text):
        text = text.strip().replace(" [title]", ". ")
        return re.sub("\\[.*?\\]", "", text).replace("  ", " ")

    def made(doc):
        ctx = doc["ctx_a"] + " " + doc["ctx_b"].capitalize()
        return {
            "query": bare(doc["activity_label"] + ": " + ctx),
            "choices": [bare(ending) for ending in doc["endings"]],
            "gold": int(doc["label"]),
        }

    return dataset.map(made)


def drop_docs(dataset):
    def _p(doc):
        return {"id": doc["question"], "answers": [tuple(a) for a in doc["answers"]]}

    return dataset.map(_p)


def drop_results(doc, results):
    pred = results[0]
    best = max(float(pred == a) for g in doc["answers"] for a in g)
    return {"em": best, "f1": max(best, 0.25)}


def mc2(doc, results):
    lls, _ = zip(*results, strict=True)
    split = list(doc["mc2_targets"]["labels"]).index(0)
    t, f = lls[:split], lls[split:]
    true, false = sum(map(exp, t)), sum(map(exp, f))
    return {"acc": true / (true + false)}


def wiki_target(doc):
    return re.sub(r"\s+'s", "'s", doc["page"]).replace(" @-@ ", "-")


def wiki_results(doc, results):
    (ll,) = results
    return {
        "word_perplexity": (ll, len(re.split(r"\s+", doc["page"]))),
        "byte_perplexity": (ll, len(doc["page"].encode())),
        "bits_per_byte": (ll, len(doc["page"].encode())),
    }


def squad_results(doc, results):
    p = results[0].strip()
    return {
        "exact": float(any(p == a for a in doc["answers"]["text"])),
        "f1": float("nan") if p == "unanswerable" else 0.5,
    }


def wino_text(doc):
    return {"1": 0, "2": 1}[doc["answer"]]


def wino_target(doc):
    return doc["sentence"][doc["sentence"].index("_") + 1 :].strip()


def wino_choice(doc):
    i = doc["sentence"].index("_")
    return [doc["sentence"][:i] + o for o in (doc["option1"], doc["option2"])]


def ife(doc, results):
    ok = ["," not in results[0], len(results[0]) < 8]
    return {"prompt_level": all(ok), "inst_level": ok}


def agg_inst(items):
    flat = [i for sub in items for i in sub]
    return sum(flat) / len(flat)


def cb_f1(items):
    golds, preds = zip(*items, strict=True)
    f = []
    for c in range(3):
        right = items.count((c, c))
        whole = golds.count(c) + preds.count(c)
        f.append(2 * right / whole if whole else 0.0)
    return sum(f) / 3


def list_fewshot():
    return [
        {"problem": "1+1", "solution": "\\boxed{2}", "answer": "2", "few_shot": "1"},
        {"problem": "2+2", "solution": "\\boxed{4}", "answer": "4", "few_shot": "1"},
    ]


def minerva(doc, results):
    m = re.search(r"is \$(.*?)\$", results[0])
    return {
        "exact_match": int(bool(m) and m[1] == doc["answer"]),
        "math_verify": 1.0 if m else 0.0,
    }


def wer(references, predictions, **kw):
    r, p = references[0].split(), predictions[0].split()
    return {"wer": abs(len(r) - len(p)) / len(r), "short": float(len(p) < len(r))}
