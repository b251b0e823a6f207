"""The words that a text can be found by: identifiers whole and in parts, scripts without spaces by pairs."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache

__all__ = ["BASES", "is_unspaced", "tokenise"]


# Longer tokens are cut to this many characters, in texts and queries alike, so they still meet.
_LONGEST = 64

# Han, kana, bopomofo and Hangul, Thai, Lao, Tibetan, Myanmar, Khmer and the rest of South-East Asia.
_UNSPACED = (
    "\u0e00-\u0e4e\u0e80-\u0ece\u0f00-\u0f03\u0f18-\u0f39\u0f3e-\u0fbc\u1000-\u1049\u1050-\u109f\u1100-\u11ff"
    "\u1780-\u17d3\u1950-\u19df\u1a20-\u1aad\u3005-\u3007\u3031-\u3035\u3040-\u30fa\u30fc-\u318f\u31a0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua48c\ua980-\ua9df\uac00-\ud7ff\uf900-\ufaff\U0001b000-\U0001b16f"
    "\U00020000-\U0003ffff"
)
_UNSPACED_CHARACTER = re.compile(f"[{_UNSPACED}]")

# What separates words however it is placed; a comma does unless it is inside a number.
_SEPARATOR = r"\s,…–—―•·|;\"“”„«»‹›()\[\]{}<>、。〜「」『』【】〈〉《》・؟،؛।॥"
_OTHER = rf"[^{_UNSPACED}{_SEPARATOR}]+"
_CHUNK = re.compile(rf"([{_UNSPACED}]+)|({_OTHER}(?:(?<=\d),(?=\d){_OTHER})*)")


_EDGES = "'`*.!?:~¡¿’‘‚´"
_APOSTROPHES = str.maketrans("’‘ʼ＇", "''''")
_CONTRACTION = re.compile(r"(?<=\w)'(?:s|t|re|ve|ll|d|m)(?!\w)")
# Joiners, direction marks and the like are invisible, so they must not come between a text and a query.
_INVISIBLE = re.compile("[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff]")

_STOP_LIST = """
a about above after again against all also am an and any are aren as at be because been before being below
between both but by can could couldn did didn do does doesn doing don down during each few for from further
had hadn has hasn have having he her here hers herself him himself his how i if in into is isn it its itself
just let ll me more most my myself no nor not of off on once only or other our ours ourselves out over own re
same she should shouldn so some such than that the their theirs them themselves then there these they this
those through to too under until up us ve very was wasn we were weren what when where which while who whom
whose why will with would wouldn you your yours yourself yourselves
"""
_STOP_WORDS = frozenset(_STOP_LIST.split())


@cache
def _word() -> re.Pattern[str]:
    """A word with the combining marks on its letters, or a symbol; cached, for it looks at every character there is."""
    every = map(chr, range(0x300, 0x1F000))
    marks = "".join(character for character in every if unicodedata.category(character) in ("Mn", "Mc", "Me"))
    return re.compile(rf"(?:[^\W_][{marks}]*)+|[^\w\s\x00-\xbf]")


def tokenise(text: str) -> list[str]:
    """The tokens of a text, in order and with repeats; English stop words are left out and English words stemmed.

    "ORD-7731" gives the whole and its parts, "C++" gives "c++" and "c", "東京都" gives "東京" and "京都".
    """
    if text.isascii():
        folded = _CONTRACTION.sub("", text.lower()) if "'" in text else text.lower()
    else:
        folded = unicodedata.normalize("NFKC", text).casefold().translate(_APOSTROPHES)
        folded = _CONTRACTION.sub("", _INVISIBLE.sub("", folded))
    tokens: list[str] = []
    for run, chunk in _CHUNK.findall(folded):
        tokens.extend(_pairs(run) if run else _known_tokens(chunk) if len(chunk) <= _LONGEST else _chunk_tokens(chunk))
    return tokens


def is_unspaced(token: str) -> bool:
    """Whether the token begins in a script that is written without spaces."""
    return _UNSPACED_CHARACTER.match(token) is not None


def _pairs(run: str) -> list[str]:
    return [run] if len(run) == 1 else [run[start : start + 2] for start in range(len(run) - 1)]


@lru_cache(maxsize=65_536)
def _known_tokens(chunk: str) -> tuple[str, ...]:
    # The words of a language are few, and nearly all of its texts are made of them.
    return tuple(_chunk_tokens(chunk))


def _chunk_tokens(chunk: str) -> Iterator[str]:
    whole = chunk.strip(_EDGES)
    parts = [whole] if whole.isalnum() else _word().findall(whole)
    if parts and parts != [whole]:
        yield whole[:_LONGEST]
    for part in parts:
        if part not in _STOP_WORDS:
            yield _stem(part[:_LONGEST])


@lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    if not (word.isascii() and word.isalpha()):
        return word
    # A stemmer holds the word it works on, so threads must not share one.
    import snowballstemmer

    stemmed: str = snowballstemmer.stemmer("english").stemWord(BASES.get(word, word))
    return stemmed


_TABLE = """
arise arose arisen
awake awoke awoken
become became
begin began begun
bend bent
bite bit bitten
bleed bled
blow blew blown
break broke broken
breed bred
bring brought
build built
burn burnt
buy bought
catch caught
choose chose chosen
come came
creep crept
deal dealt
dig dug
do does did done
draw drew drawn
dream dreamt
drink drank drunk
drive drove driven
eat ate eaten
fall fell fallen
feed fed
feel felt
fight fought
find found
flee fled
fly flew flown
forbid forbade forbidden
forget forgot forgotten
forgive forgave forgiven
freeze froze frozen
get got gotten
give gave given
go goes went gone
grow grew grown
hang hung
hear heard
hide hid hidden
hold held
keep kept
kneel knelt
know knew known
lead led
lean leant
learn learnt
leave left
lend lent
light lit
lose lost
make made
mean meant
meet met
overcome overcame
pay paid
prove proven
quit quitted
ride rode ridden
ring rang rung
rise rose risen
run ran
say said
see saw seen
seek sought
sell sold
send sent
sew sewn
shake shook shaken
shine shone
shoot shot
show shown
shrink shrank shrunk
sing sang sung
sink sank sunk
sit sat
sleep slept
slide slid
smell smelt
speak spoke spoken
speed sped
spell spelt
spend spent
spill spilt
spin spun
spoil spoilt
stand stood
steal stole stolen
stick stuck
sting stung
strike struck
strive strove striven
swear swore sworn
sweep swept
swell swollen
swim swam swum
swing swung
take took taken
teach taught
tear tore torn
tell told
think thought
throw threw thrown
understand understood
undertake undertook undertaken
undo undid undone
wake woke woken
wear wore worn
weave wove woven
weep wept
win won
withdraw withdrew withdrawn
write wrote written
child children
foot feet
goose geese
half halves
knife knives
leaf leaves
life lives
loaf loaves
man men
mouse mice
ox oxen
person people
shelf shelves
thief thieves
tooth teeth
wife wives
wolf wolves
woman women
"""

BASES: dict[str, str] = {form: base for base, *forms in map(str.split, _TABLE.strip().splitlines()) for form in forms}
"""The base of each irregular form."""
