"""What a search by words knows of languages: which one a text is in, its function words, and the stems of its words.

A text is told by its function words, and where it has none of a language more than of others it is in none: then its
words stand as they are. Scripts without spaces, and languages that are not here, lose nothing by that.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

FUNCTION_WORDS: dict[str, frozenset[str]] = {
    language: frozenset(words.split())
    for language, words in {
        "english": """a about am an and are as at be been but by can could did do does for from had has have he her him
            his how i if in is it its just me my not of on or our she should so than that the their them then there
            these they this to was we were what when where which who whom whose why will with would you your""",
        "italian": """a ad ai al alla alle anche che chi ci col come con cosa da dal dalla degli dei del della delle di
            dove e ed era gli ha hai hanno ho i il in io la le lei lo loro lui ma mi mia mie miei mio ne nel nella non
            o per perché più quale quali quando quanto se sei si sia sono su sua suo ti tu tua tuo un una uno""",
        "spanish": """a al algo como cómo con cuál cuales cuáles cuando cuándo cuánto de del desde donde dónde e el él
            ella ellos en era es esta está este esto fue ha han hay he la las le les lo los me mi mis muy más no nos o
            para pero por porque que qué quien quién se ser si sin sobre soy su sus te tiene tu tú un una y ya yo""",
        "french": """a à ai as au aux avec ce ces cet cette comment dans de des du elle elles en est et eu il ils j je
            l la le les leur lui m ma mais me mes moi mon n ne nos notre nous on ont où ou par pas pour pourquoi qu
            quand que quel quelle quels qui quoi s sa se ses si son sont suis sur ta te tes toi ton tu un une vous y""",
        "german": """aber als am an auch auf aus bei bin bis bist da das dass dein deine dem den der des die dir du ein
            eine einem einen einer er es für habe haben hat hatte ich ihm ihn ihr im in ist ja kann kein mein meine mich
            mir mit nach nicht noch nur ob oder sein seine sich sie sind so über um und uns unser von vor wann war warum
            was welche welcher welches wem wen wenn wer werden wie wir wird wo zu zum zur""",
        "portuguese": """a à ao aos as até com como da das de dela dele do dos e é ela ele eles em era essa esse esta
            está este eu foi há isso isto já lhe mais mas me meu meus minha minhas muito na não nas no nos o onde os ou
            para pela pelo por porque qual quais quando quanto que quê quem se sem ser seu sua são sou também te tem um
            uma você""",
    }.items()
}


def language_of(words: Sequence[str]) -> str | None:
    """The language with the most function words among these (case folded); None where none has more than others."""
    counts = [(sum(word in known for word in words), language) for language, known in FUNCTION_WORDS.items()]
    (most, language), (second, _), *_ = sorted(counts, reverse=True)
    return language if most > second else None


def stem_of(word: str, language: str) -> str:
    """The stem of a word, by Snowball's rules."""
    return _stemmer(language).stemWord(word)


@cache
def _stemmer(language: str) -> Any:
    import snowballstemmer  # loaded with the first text: most of the package's users never search

    return snowballstemmer.stemmer(language)
