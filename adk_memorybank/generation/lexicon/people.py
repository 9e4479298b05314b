"""Words for people around the user, and the topics that a Japanese or Korean statement is about."""

from __future__ import annotations

import re

_WORDS = {
    "it": "madre=mother mamma=mother padre=father papà=father sorella=sister fratello=brother moglie=wife "
    "marito=husband figlio=son figlia=daughter amico=friend amica=friend capo=boss collega=colleague "
    "cugino=cousin cugina=cousin zio=uncle zia=aunt nonno=grandfather nonna=grandmother compagno=partner "
    "compagna=partner ragazzo=boyfriend ragazza=girlfriend vicino=neighbour vicina=neighbour",
    "es": "madre=mother mamá=mother padre=father papá=father hermana=sister hermano=brother esposa=wife mujer=wife "
    "esposo=husband marido=husband hijo=son hija=daughter amigo=friend amiga=friend jefe=boss jefa=boss "
    "colega=colleague compañero=colleague compañera=colleague primo=cousin prima=cousin tío=uncle tía=aunt "
    "abuelo=grandfather abuela=grandmother novio=boyfriend novia=girlfriend pareja=partner vecino=neighbour",
    "fr": "mère=mother maman=mother père=father papa=father sœur=sister soeur=sister frère=brother femme=wife "
    "épouse=wife mari=husband fils=son fille=daughter ami=friend amie=friend chef=boss patron=boss patronne=boss "
    "collègue=colleague cousin=cousin cousine=cousin oncle=uncle tante=aunt grand-père=grandfather "
    "grand-mère=grandmother copain=boyfriend copine=girlfriend voisin=neighbour voisine=neighbour",
    "de": "mutter=mother mama=mother vater=father papa=father schwester=sister bruder=brother frau=wife mann=husband "
    "sohn=son tochter=daughter freund=friend freundin=friend chef=boss chefin=boss kollege=colleague "
    "kollegin=colleague cousin=cousin cousine=cousin onkel=uncle tante=aunt opa=grandfather großvater=grandfather "
    "oma=grandmother großmutter=grandmother partner=partner partnerin=partner nachbar=neighbour nachbarin=neighbour",
    "pt": "mãe=mother pai=father irmã=sister irmão=brother esposa=wife mulher=wife esposo=husband marido=husband "
    "filho=son filha=daughter amigo=friend amiga=friend chefe=boss colega=colleague primo=cousin prima=cousin "
    "tio=uncle tia=aunt avô=grandfather avó=grandmother namorado=boyfriend namorada=girlfriend vizinho=neighbour",
    "ru": "мама=mother маме=mother мать=mother матери=mother папа=father папе=father отец=father отцу=father "
    "сестра=sister сестре=sister брат=brother брату=brother жена=wife жене=wife муж=husband мужу=husband сын=son "
    "сыну=son дочь=daughter дочери=daughter друг=friend другу=friend подруга=friend подруге=friend "
    "начальник=boss коллега=colleague бабушка=grandmother дедушка=grandfather тётя=aunt дядя=uncle",
    "ja": "お母さん=mother 母親=mother 母=mother お父さん=father 父親=father 父=father お姉さん=sister 姉=sister "
    "妹=sister お兄さん=brother 兄=brother 弟=brother 妻=wife 奥さん=wife 嫁=wife 夫=husband 旦那=husband "
    "主人=husband 息子=son 娘=daughter 友達=friend 友人=friend 親友=friend 彼女=girlfriend 彼氏=boyfriend "
    "上司=boss 同僚=colleague 祖母=grandmother おばあさん=grandmother 祖父=grandfather おじいさん=grandfather "
    "両親=parents 叔父=uncle 叔母=aunt いとこ=cousin 従兄弟=cousin",
    "zh": "妈妈=mother 母亲=mother 妈=mother 爸爸=father 父亲=father 爸=father 姐姐=sister 妹妹=sister 姐=sister "
    "妹=sister 哥哥=brother 弟弟=brother 哥=brother 弟=brother 妻子=wife 老婆=wife 太太=wife 丈夫=husband "
    "老公=husband 先生=husband 儿子=son 女儿=daughter 朋友=friend 女朋友=girlfriend 男朋友=boyfriend 老板=boss "
    "上司=boss 同事=colleague 奶奶=grandmother 外婆=grandmother 爷爷=grandfather 外公=grandfather 父母=parents "
    "表哥=cousin 表姐=cousin 叔叔=uncle 阿姨=aunt 邻居=neighbour",
    "ko": "어머니=mother 엄마=mother 아버지=father 아빠=father 언니=sister 누나=sister 여동생=sister 동생=brother "
    "남동생=brother 형=brother 오빠=brother 아내=wife 와이프=wife 남편=husband 아들=son 딸=daughter 친구=friend "
    "여자친구=girlfriend 남자친구=boyfriend 상사=boss 사장님=boss 동료=colleague 할머니=grandmother "
    "할아버지=grandfather 부모님=parents 이모=aunt 삼촌=uncle 사촌=cousin",
}
RELATIONS = {code: dict(pair.split("=") for pair in words.split()) for code, words in _WORDS.items()}
"""Language to the word for a relation and its English name."""


def _any(code: str) -> str:
    return "|".join(sorted(map(re.escape, RELATIONS[code]), key=len, reverse=True))


_NAME = r"(?:,? (?P<name>(?-i:[A-ZÀ-ÖØ-ÞА-Я])[\w'’-]+))?"
HEADS = {
    "it": re.compile(
        rf"^(?:a |il |la |lo |l['’])?(?:mi[ao]|nostr[ao]) (?:\w+ )?(?P<relation>{_any('it')})\b{_NAME}", re.I
    ),
    "es": re.compile(rf"^(?:a )?(?:mi|nuestr[ao]) (?:\w+ )?(?P<relation>{_any('es')})\b{_NAME}", re.I),
    "fr": re.compile(rf"^(?:mon|ma|notre) (?:\w+ )?(?P<relation>{_any('fr')})\b{_NAME}", re.I),
    "de": re.compile(rf"^(?:meine?[rm]?|unsere?[rm]?) (?:\w+ )?(?P<relation>{_any('de')})\b{_NAME}", re.I),
    "pt": re.compile(rf"^(?:o |a |ao |à )?(?:meu|minha|noss[ao]) (?:\w+ )?(?P<relation>{_any('pt')})\b{_NAME}", re.I),
    "ru": re.compile(
        rf"^(?:у )?(?:мой|моя|моей|моему|моего|наш|наша) (?:\w+ )?(?P<relation>{_any('ru')})\b{_NAME}", re.I
    ),
    "ja": re.compile(
        rf"^(?:(?:私|僕|俺|うち)たち?の|うちの|今、?)?(?P<relation>{_any('ja')})(?:さん)?(?P<name>[^はがもの、。]{{0,6}})?"
        r"(?:の[^はがも、。]{1,8})?(?:は|が|も)[、,]?"
    ),
    "zh": re.compile(rf"^我们?的?(?:大|小|好|最好的|前)?(?P<relation>{_any('zh')})(?!和我|跟我)(?P<name>(?!.).)?"),
    "ko": re.compile(
        rf"^(?:제|내|저의|나의|우리) ?(?:\S+ )?(?P<relation>{_any('ko')})(?: (?P<name>\S{{1,6}}?))?"
        r"(?:은|는|이|가|께서는|도)? "
    ),
}
"""Language to the pattern of a statement about one of them, matched at its start."""

TOPICS = {
    "ja": re.compile(
        r"^(?!(?:私|僕|俺|わたし|ぼく|うち|自分|今|いま|現在|最近|もう|昔|以前|昨日|今日|明日|先週|今週|来週|先月|今月|来月|去年|今年|来年"
        r"|朝|昼|夜|週末|平日|普段|毎|実|とき|時|月曜|火曜|水曜|木曜|金曜|土曜|日曜))"
        r"(?P<topic>[^、。はが]{1,14})(?:は|が)"
    ),
    "ko": re.compile(
        r"^(?!(?:나는|저는|난|전|내가|제가|우리는|우리가|저희는|지금은?|이제는?|현재는?|요즘은?|오늘은?)\s)"
        r"(?P<topic>\S{1,8}(?:은|는|이|가)) "
    ),
}
"""Language to the pattern of a topic other than the user."""

OWN_TOPIC = re.compile(
    r"名前|誕生日|仕事|職業|電話|携帯|年齢|住所|趣味|番号|好きな|お気に入り|이름|생일|직업|나이|번호|좋아하는"
)
"""Topics that are the user's own though the user is not named."""
