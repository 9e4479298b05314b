"""What the rules need to tell a value that takes another's place from any other phrase in that place."""

from __future__ import annotations

import re

from adk_memorybank.generation.lexicon.language import words

CONNECTORS = words(
    "the of il lo la le i gli l de del della dello delle dei di da do dos das du des el los las les am an der den "
    "von und and upon sur"
)
"""Small words inside a name."""

NO_NAMES = words(
    # German writes all its nouns like names.
    "angst haus wohnung stadt nähe dorf land frieden scheidung trennung beziehung teilzeit vollzeit homeoffice hotel "
    "zentrum studio stock stockwerk etage keller wg büro schule krankenhaus fabrik nacht nachtschicht eltern familie "
    "freunde freunden armut sorge gefahr zelt wohnwagen heim altbau neubau hochhaus ausland süden norden osten westen "
    "vorort innenstadt zimmer haushalt furcht unsicherheit hause schichten gastronomie pflege verkauf "
    "ok okay ill sick tired hungry late home here there abroad pain fear peace hell heaven limbo town downtown "
    "campus night nights work school nowhere somewhere paradise chaos poverty squalor denial sin debt luxury exile"
)
"""Single words that stand where a name could, and are none."""

NO_NAMES_UNSPACED = re.compile(
    r"[とのでにをはがも]|[0-9０-９]|階|近く|アパート|マンション|実家|寮|田舎|都会|海外|外国|自宅|在宅|一人|会社|家|部屋|夜|昼|病院|学校|恐怖|不安"
    r"|恐惧|痛苦|楼|层|家|房|公寓|宿舍|附近|旁|边|一起|租|酒店|农村|乡下|城市|郊区|国外|公司|晚上|夜|办公室|医院|学校|这|那"
    r"|집|층|곳|근처|시골|도시|원룸|기숙사|혼자|부모님|함께|해외|학교|회사|병원"
)

COUNTRIES = words(
    "italy spain france germany portugal england scotland wales ireland britain uk usa us america canada mexico brazil "
    "argentina chile peru colombia japan china korea india russia ukraine poland greece turkey egypt morocco kenya "
    "nigeria australia austria switzerland belgium netherlands holland denmark sweden norway finland iceland thailand "
    "vietnam indonesia philippines singapore israel europe asia africa states kingdom "
    "italia españa francia alemania portogallo germania inghilterra giappone cina svizzera spagna brasile europa "
    "italien spanien frankreich deutschland österreich schweiz japon chine italie espagne allemagne suisse brésil "
    "brasil espanha frança alemanha itália japão portugal "
    "日本 中国 韩国 韓国 美国 アメリカ イタリア フランス ドイツ 英国 イギリス 法国 德国 意大利 西班牙 한국 일본 중국 미국 россии украине "
    "италии германии франции"
)
"""A country and a town in it are both where somebody lives."""

CHANGED = re.compile(
    r"\b(?:now|moved|relocated|switched|changed|no longer|any ?more|became|become|promoted|new job"
    r"|ora|adesso|trasferit[oaie]|cambiato|diventat[oa]|ahora|mudé|mudado|mudamos|cambié|maintenant|désormais|déménagé"
    r"|emménagé|devenue?|jetzt|nun|inzwischen|gezogen|umgezogen|geworden|gewechselt|agora|mudei|mudámos|virei"
    r"|теперь|переехала?)\b"
    r"|今は|引っ越|引越|転職|になりました|になった|现在|現在|搬|改|换|이제|이사",
    re.IGNORECASE,
)
"""Says that something is new in the place of something else."""

NOW = re.compile(
    r"\b(?:now|ora|adesso|ahora|maintenant|désormais|jetzt|nun|agora|теперь)\b|今は|现在|이제", re.IGNORECASE
)

PASSING = re.compile(
    r"\b(?:until|till|during|this (?:week|month|summer|winter|semester|term)|temporar\w+|sometimes|on weekends"
    r"|weekdays|half|ago|used to|once|back then|as a (?:child|kid|student|teenager)|when i|if|for (?:the|a) \w+|except"
    r"|fino a|durante|temporaneamente|a volte|quando|se|tempo fa|hasta|temporalmente|a veces|cuando|si"
    r"|jusqu\w*|pendant|parfois|quand|bis|während|vorübergehend|manchmal|wenn|até|às vezes|enquanto)\b"
    r"|^i (?:was|were|used)\b|到.{1,6}为止|暂时|有时|以前|曾|まで|一時|時々|以前|昔",
    re.IGNORECASE,
)
"""Says that something holds for a time, under a condition, or held once."""

NOT_YET = re.compile(
    r"\b(?:going to|gonna|will|planning to|next (?:week|month|year|summer|winter|spring|autumn|fall)|andr\w+"
    r"|mi trasferi(?:rò|remo)|(?:mese|anno|settimana) prossim[oa]|prossim[oa] (?:mese|anno|settimana)|voy a|vamos a"
    r"|próxim[oa]|que viene|vais|allons|prochaine?|werden?|nächste[nrms]?|vou|que vem)\b"
    r"|来月|来週|来年|予定|つもり|下个月|下周|明年|打算|准备",
    re.IGNORECASE,
)
"""Says that something will be so, or may."""

PARTLY = re.compile(
    r"(?:\b(?:not|never|no)|n['’]t)\b.{0,20}?\b(?:only|always|just|often|usually|much|too|every|all|entirely|necessarily"
    r"|stop\w*|hate\w*|dislike\w*|quit|without|sure|mind)\b|\b(?:today|tonight|yesterday|tomorrow|this morning)\b"
    r"|\bnon\b.{0,20}\b(?:solo|sempre|spesso|tutt\w+|troppo|smesso|odio)\b|\bno\b.{0,20}\b(?:sólo|solo|siempre|mucho|dejado"
    r"|odio)\b|\bpas\b.{0,12}\b(?:seulement|toujours|souvent|tous|toutes|trop|arrêté|déteste)\b"
    r"|\bnicht\b.{0,12}\b(?:nur|immer|oft|alle|zu|aufgehört|hasse)\b|\bnão\b.{0,20}\b(?:só|sempre|muito|parei|odeio)\b"
    r"|不(?:只|总|是只|常|都|讨厌)|嫌いではな|嫌いじゃな|だけで(?:は)?な|いつもは",
    re.IGNORECASE,
)
"""A negation of a part only, or of another negation, or of one day."""

WORK = re.compile(
    r"\b(?:work\w*|job|profession|occupation|employed|lavor\w+|faccio|trabaj\w+|trabalh\w+|travaill\w+|arbeite\w*)\b"
    r"|仕事|職業|工作|职业|働|勤",
    re.IGNORECASE,
)

USES = words(
    "use us using work program cod write drink eat drive play take wear read mainly ride study live run "
    "uso bevo mangio guido lavoro gioco utilise bois mange conduis travaille benutze trinke esse fahre como bebo"
)
"""Verbs of what can be switched from one thing to another."""

VERBS = USES | words(
    "liv resid mov relocat locat bas work employ start join call nam turn becom follow own got get year old "
    "vivo abito risiedo trasferito trasferita trasferiti lavoro chiamo mudé mudado trabajo llamo habite vis déménagé "
    "emménagé travaille appelle installé installée wohne lebe gezogen umgezogen arbeite heiße moro mudei trabalho "
    "chamo живу переехал переехала favourite favourit speak"
)
"""Verbs that say no more than the attribute does."""
