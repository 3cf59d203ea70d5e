"""The English around verdicts: what may stand before and after PASS and FAIL.

The patterns are matched against short pieces of a sentence with single spaces. Those for
what stands before are matched from end to end: a word that is in none of them makes
the mention no verdict.
"""

from __future__ import annotations

import re
from typing import Final

_LETTER: Final = r"0-9A-Za-z_\u00aa-\u024f\u0370-\u052f"

#: A verdict word on its own: no part of a longer word, of a compound or a file name.
WORD: Final = re.compile(
    rf"(?<![{_LETTER}])(?<![{_LETTER}]-)"
    r"(?:(?P<good>pass(?:ed|es|ing)?)|(?P<bad>fail(?:ed|s|ing|ure)?))"
    rf"(?![{_LETTER}]|[-@][{_LETTER}]|(?-i:\.[a-z])|'[a-z])",
    re.IGNORECASE,
)
_DRESS = r"[ \t\"'`()\[\]{}<>\ue000]{0,4}"
#: Both words as the two to choose from: a question or a form, no verdict.
CHOICE: Final = re.compile(
    rf"\b(?:pass|fail)(?:ed)?{_DRESS}(?:[/|,&\\]|(?:or|and|vs|nor)\b\.?)?{_DRESS}"
    rf"(?:or )?(?:an? )?{_DRESS}\b(?:pass|fail)(?:ed)?\b(?!\s{{1,4}}(?:pass|fail)\b)",
    re.IGNORECASE,
)


def _end_to_end(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_LEAD = (
    r"(?:(?:so|therefore|thus|hence|overall|finally|consequently|ok|okay|yes|an?|the"
    r"|clear(?:ly)?|definite(?:ly)?|solid|strong|full|final|and|but|as a result"
    r"|in (?:conclusion|summary|short)|to (?:conclude|sum up)|all in all)[,:]? )*"
)
_SUBJECT = (
    r"(?:it|this|that|(?:the|this|that|its) (?:\w{1,20} ){0,2}(?:answer|output|reply"
    r"|response|candidate|submission|text|result|summary|translation|solution|essay"
    r"|draft|completion|content|generation|report|message))"
)
_ADVERB = (
    r"(?:(?:clearly|definitely|fully|easily|also|still|therefore|thus|simply|just"
    r"|plainly|obviously|certainly|quite|yet|completely|entirely) )*"
)
_ARTICLE = r"(?:(?:an?|the|as|is|clear|definite|solid|strong|full) )*"

#: Words that change nothing before a verdict.
LEAD: Final = _end_to_end(_LEAD)
#: The name of the verdict over all.
LABEL: Final = _end_to_end(
    _LEAD + r"(?:(?:my|our|your|final|overall|new|revised|corrected|updated|judge'?s?"
    r"|evaluation|grading|choice) )*"
    r"(?:verdict|judge?ment(?:[ _]result)?|decision|conclusion|overall|result|outcome"
    r"|final|ruling|assessment|grade|rating|answer|evaluation|bottom line|choice"
    r"|therefore|thus|hence|so|in (?:conclusion|summary|short)"
    # Its name in the languages that judges of this package are likely to speak.
    r"|urteil|ergebnis|bewertung|fazit|verdikt|résultat|jugement|décision|resultado"
    r"|veredicto|conclusión|conclusión final|veredito|resultado final|risultato|verdetto"
    r"|esito|oordeel|resultaat|вердикт|итог|результат|判定|結果|結論|评估|结论|结果|裁定|判断"
    r"|評価|판정|결과)"
    r"(?: \([^()]{0,40}\))?(?: ?[:=>|–—-]{1,2}| is now| is| remains){0,2} " + _ARTICLE
)
#: A judge who names the own choice.
JUDGE_SAYS: Final = _end_to_end(
    _LEAD
    + r"(?:i|we)(?:'d|'ll|'m| would| will| must| am)? "
    + _ADVERB
    + r"(?:say|choose|vote|answer|go with|go for|giv(?:e|ing)|rat(?:e|ing)|mark(?:ing)?"
    r"|judge|grad(?:e|ing)|call|assign|conclude|pick|select|declare|rule|settle on"
    rf"|decide(?: on)?)(?: {_SUBJECT})?(?: (?:with|for))? (?:: )?" + _ARTICLE
)
SUBJECT_IS: Final = _end_to_end(
    rf"{_LEAD}{_SUBJECT}(?: is|'s| gets| receives| earns| deserves| merits| counts as) "
    + _ADVERB
    + _ARTICLE
)
SUBJECT: Final = _end_to_end(rf"{_LEAD}{_SUBJECT} {_ADVERB}")
#: What may follow a verdict that is a verb: nothing but the test as a whole.
OBJECT: Final = _end_to_end(
    r"(?:(?:the|all|all of the|every|this|our|both|each|its) "
    r"(?:(?!but|save|except|bar)\w{1,20} ){0,2}"
    r"(?:checks?|tests?|rubric|criteri(?:a|on)|requirements?|bar|evaluation|standards?)"
    r")? ?(?:overall|too|as well|fully|completely|here)?[ .!]*"
)
#: ", so FAIL" and its kin, at the end of what stands before.
SO_CLAUSE: Final = re.compile(
    r"(?:[,;–—>-]|\band) ?(?:so|therefore|thus|hence|consequently"
    r"|(?:making|which makes|that makes) (?:it|this)|(?:this|it|that) is|it's)[,:]? "
    r"(?:(?:it|this|that|the verdict|my verdict) is )?" + _ARTICLE + "$",
    re.IGNORECASE,
)
#: PASS after these says FAIL.
NEGATION: Final = _end_to_end(
    rf"{_LEAD}(?:{_SUBJECT} )?{_ADVERB}(?:not|never|no"
    r"|(?:can|could|do|does|did|is|was|has|have|will|would|should|must|may|might)"
    r"(?: not|n'?t| never)|cannot|won't|can't|ain't|fail(?:s|ed)? to|(?:is )?unable to) "
    # "It doesn't just pass" says more than that it passes.
    rf"(?!just|simply){_ADVERB}(?:(?:be|been|get|earn|deserve|receive|given|considered|worthy of) )*"
    + _ARTICLE
)
#: A bare statement on the truth scale; only its no is plain enough to be read.
UNTRUE: Final = _end_to_end(
    rf"(?:it is (?:true|clear|certain) that )?{_SUBJECT} (?:is|was)(?: not|n't) "
    r"(?:correct|true|right)[.! ]*|\W{0,4}false\W{0,4}"
)

#: Whose words, or which other thing, a label announces.
FOREIGN: Final = re.compile(
    r"\b(?:candidate|student|user|assistant|expected|reference|actual|submi\w+"
    r"|question|prompt|input|examples?|instruct\w*|format|e\.g|i\.e|errors?|exception"
    r"|warning|response|reply|output|text|quot\w+|previous|earlier|initial(?:ly)?"
    r"|draft|first|sa(?:ys?|id|ying)|wr(?:ites?|ote|itten)|reads|contain\w*|tells?|told"
    r"|claim\w*|includ\w+|print\w*|return\w*|repl\w+|respond\w*|demand\w*|(?<!you )ask\w*"
    r"|embed\w*|inject\w*|echo\w*|possible|allowed|human|another|other|template)\b",
    re.IGNORECASE,
)
#: Words that take certainty or sense away from a verdict after them.
HEDGE: Final = re.compile(
    r"\b(?:if|unless|whether|maybe|perhaps|probabl[ey]|possibl[ey]|presumably|likely"
    r"|almost|nearly|near|borderline|tempt\w*|inclined|lean\w*|at first|would|could"
    r"|might|may|seem\w*|looks?|not|no|never|cannot|without|neither|nor|instead|rather"
    r"|should|hardly|barely|otherwise|else|when|until|once|provided|assuming|tentativ\w+"
    r"|weak|soft|partial\w*|condition\w*|marginal\w*|half|doubt\w*|un\w{2,}|far from"
    r"|anything but|close to|short of|den\w+|refus\w+|require\w*|needs?|needed"
    r"|required|to get|to earn|were|had)\b|n't\b",
    re.IGNORECASE,
)
#: Before the other word in a reason: it is not said to hold.
NOT_SAID: Final = re.compile(
    r"(?:\b(?:not|no|never|n?or|neither|without|cannot|than|instead of|any|would|could"
    r"|might)|n't)(?: \w{1,15}){0,2} ?$",
    re.IGNORECASE,
)

#: What may follow PASS or FAIL with no mark between them: a reason begins.
REASON_BEGINS: Final = re.compile(
    r"(?:(?:ok|okay|because|since|as|due to|correct(?:ly)?|all|good|fine|overall|with"
    r"|wrong|missing|incorrect|(?-i:The|This|It|Its|All|Both|Each|Every|Names|Cites"
    r"|Answers?|Response|Reply|Output|Correct|Matches|Covers|States)))\b(?! (?:not|if)\b)",
    re.IGNORECASE,
)
#: A condition right after a verdict hands the decision back.
CONDITION: Final = re.compile(
    r"(?:(?:but|and|only|even|,) ?)*(?:if|unless|provid(?:ed|ing)|assuming|(?:as|so) long"
    r" as|on condition|depend\w+|subject to|pending|except if|condition\w+|contingent"
    r"|only when|in case|otherwise|or|else|vs"
    r"|(?:aber |nur |mais |seulement |pero |solo )*(?:wenn|falls|sofern|si|se|als|если))\b"
    r"|如果|假如|若|もし|만약",
    re.IGNORECASE,
)
_UNSURE = (
    r"(?:not (?:\w{1,12} )?(?:sure|certain|confident)|unsure|uncertain|hard to (?:say|tell)"
    r"|(?:could go )?either way|(?:or )?maybe not)\b"
)
#: Doubt of a judge right after the own verdict.
DOUBT: Final = re.compile(
    r"(?:(?:but|though|or|and|just) )*(?:i (?:think|guess|suppose|believe|assume)"
    r"|probably|perhaps|maybe|possibly|presumably|likely|borderline|barely|ish"
    r"|(?:kind|sort) of|tentativ\w+|(?:with )?(?:low|little|some) (?:confidence|doubts?)"
    r"|with (?:reservations?|doubts?)|or not|not really|on the fence|toss-?up|almost"
    r"|nearly|part(?:ial)?ly|more or less|arguably|tbd|lean\w+"
    rf"|(?:i'm |i am )?(?:torn|undecided)|(?:i'm |i am )?{_UNSURE})\b",
    re.IGNORECASE,
)
#: PASS or FAIL as a question or a counter that is answered after the mark.
ANSWERED: Final = re.compile(
    r"(?:(?:lol|haha|well|hm+|u[hm]+|ok|so|actually|sorry),? )?(?:yes|no|true|false|none|nein|non|nope|not|n/?a|null|unknown|tbd|\d{1,6}[\d./%]{0,9}"
    r"|[\ue001\ue002]|denied|rejected|refused|withheld|revoked|not (?:met|earned|given"
    r"|granted|warranted|justified|reached|achieved|supported|yet|decided|at all))"
    r"(?:$|[.,;!|)\]](?:$|\s))",
    re.IGNORECASE,
)
#: The judge could not do the job.
UNABLE: Final = re.compile(
    r"\b(?:i|we)(?:'m| am|'d| would)? (?:really |simply )?(?:can(?:no|')t|can not|could(?: not|n't)"
    r"|unable to|not able to|won't|will not|decline to|refuse to|did(?: not|n't)"
    r"|rather not|prefer not(?: to)?) (?:\w{1,12} )?(?:judge|evaluate"
    r"|assess|grade|decide|determine|rate|check|verify|confirm|tell|say|be sure)\b",
    re.IGNORECASE,
)
#: A verdict before one of these, at the start of a clause, is taken back.
TAKEN_BACK: Final = re.compile(
    r"(?:^|[.!?\n;,(–—-])[ \t]{0,3}(?:(?:oh|but|hmm|no|ah|sorry|or),? )?(?:wait|hold on"
    r"|hang on|(?:scratch|strike) that|on (?:second thoughts?|reflection)|never ?mind"
    r"|correction|(?:edit|update) ?:|let me (?:re\w+|double-?check|check again|think again)"
    r"|i take (?:it|that|this) back|actually,? (?:no|wait)|my mistake"
    rf"|i (?:was|am) wrong|i changed? my mind|(?:i'm |i am )?{_UNSURE})(?!\w)",
    re.IGNORECASE | re.MULTILINE,
)
_ENDS_IN = (
    r"\b(?:it|this|that|answer|reply|response|output) (?:\w{1,12}ly |thus |therefore )?"
    r"(?:%s)[.!]?[ \t]{0,9}$"
)
#: The other verdict demanded, in capitals, in the reason of an object.
DEMANDED: Final = re.compile(
    r"\b(?:should|must|has to|ought to|needs to|deserves|make it|so|therefore|hence)\b,?"
    r" (?:(?:be|get|an?) ){0,2}(PASS|FAIL)\b"
)
#: The opposite said of the reply at the end of a clause, after PASS and after FAIL.
OPPOSITE: Final = {
    "PASS": re.compile(
        _ENDS_IN % r"fail(?:s|ed)|(?:does|did|do|can)(?: not|n't) pass|cannot pass",
        re.IGNORECASE | re.MULTILINE,
    ),
    "FAIL": re.compile(
        _ENDS_IN % r"pass(?:es|ed)|does pass", re.IGNORECASE | re.MULTILINE
    ),
}

#: A word that is explained, or part of a noun: "PASS means …", "PASS rate".
EXPLAINED: Final = re.compile(
    r"[\"'`)]{0,2} ?(?:=(?!>)|(?:means?|indicates|stands for|is (?:when|for)|denotes"
    r"|requires|would|criteri\w+|threshold|rate|mark|conditions?|labels?|scores?)\b)",
    re.IGNORECASE,
)
#: A line, or the head of several, that explains the words.
LEGEND: Final = re.compile(
    r"[\W\d_]{0,8}(?:legend|(?:rating |grading )?(?:scale|key|rubric|guide|scheme)"
    r"|options?|(?:\w{1,12} )?format|instructions?|criteria|definitions?|labels"
    r"|(?:possible|allowed) \w{1,12}|task|template|example)\b[\W_]{0,6}?(?::|$)",
    re.IGNORECASE,
)
