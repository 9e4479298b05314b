"""French."""

from __future__ import annotations

from adk_memorybank.generation.lexicon.language import DateWords, Language, Slot, pattern, words

_ADV = r"(?: (?:maintenant|actuellement|désormais|aussi|encore|toujours|récemment|bien|de nouveau|déjà))*"
_NOW = r"^(?:maintenant,? |désormais,? |aujourd['’]hui,? |moi,? )*"
_END = (
    r"(?=\s+(?:et|mais|parce|car|avec|depuis|où|qui|que|pendant|maintenant|désormais|aussi)\b|\s*[,;.!?(]"
    r"|\s+[-–—]\s|\s*$)"
)
_VALUE = rf"(?P<value>\S.{{0,60}}?){_END}"
_DIET = r"(?P<value>végétarien(?:ne)?|végétalien(?:ne)?|végane?|vegan|omnivore|pescétarien(?:ne)?|cœliaque)\b"

LANGUAGE = Language(
    code="fr",
    function_words=words(
        "le la les l un une des de du d à au aux en dans avec pour par sur et ou mais que qui ne pas n je j tu il "
        "elle on nous vous "
        "ils elles me m te t se s mon ma mes ton ta tes son sa ses notre nos votre leur ce cet cette ces c est suis "
        "es sommes sont "
        "ai as a avons avez ont été était étais fait plus très comme quand où quoi moi toi lui y qu parce si"
    ),
    soft_words=words(
        "très beaucoup vraiment seulement aussi toujours souvent principalement surtout maintenant encore déjà plus "
        "désormais "
        "actuellement aujourd'hui hier demain nouveau assez bien appelle"
    ),
    same_words={"adore": "aime", "déteste": "aime", "hais": "aime", "apprécie": "aime", "réside": "habite", "vis":
        "habite"},
    openers=pattern(
        r"(?:salut(?: [A-Z]\w+)?|bonjour(?: [A-Z]\w+)?|bonsoir|coucou|hé|eh bien|bon|alors|donc|ok|d['’]accord|oui"
        r"|non|merci(?: beaucoup)?|ah|oh|parfait|super|au fait)"
        r"\s*(?:[,!.:—–]|\.\.\.|…)+\s*"
    ),
    small_talk=words(
        "salut bonjour bonsoir coucou merci beaucoup bien ok d'accord oui non parfait super génial au revoir à "
        "bientôt demain de rien "
        "désolé désolée pardon compris bravo félicitations c'est très bon bonne nuit journée chance idée tout entendu"
    ),
    first_person=pattern(r"\b(?:je|moi|me|mon|ma|mes|nous|notre|nos|on)\b|\b(?:j|m)['’]"),
    question=pattern(
        r"^(?:est-ce|qu['’]est-ce|qu['’]|que |quoi|qui est|où (?:est|sont|se|peut|puis|trouver)|quand est|pourquoi"
        r"|comment|quel(?:le)?s?|combien)\b",
        r"^(?:peux|pourrais|sais|connais|as|es|veux|pouvez|pourriez|savez|avez|êtes)-(?:tu|vous)\b",
            r"^(?:tu|vous) (?:peux|pourrais|sais|connais|pouvez|savez) ",
            r"^je me demand(?:e|ais)\b",
    ),
    request=pattern(
        r"^(?:s['’]il (?:te|vous) plaît|(?:dis|donne|montre|écris|explique|aide|trouve|recommande|conseille|dites"
        r"|donnez|montrez|expliquez|aidez)-(?:moi|nous)|traduis|traduisez|cherche|réserve|"
        r"calcule|résume|corrige|liste|crée|génère|décris|parle-moi|je (?:veux|voudrais|aimerais) (?:savoir|que tu"
        r"|que vous)|j['’]aimerais (?:savoir|que tu|que vous)|j['’]ai besoin (?:d['’]aide|que tu|de ton aide)"
        r"|rappelle-moi)\b",
    ),
    unreal=pattern(r"^(?:si|s['’]il|imagine|imaginons|imaginez|suppose|supposons|admettons|et si|faisons semblant)\b",
        r"\bsi j['’](?:étais|avais|habitais|pouvais|gagnais)\b|\b(?:je plaisante|je rigole|mon personnage)\b"),
    material=pattern(
        r"\b(?:traduis|traduire|corrige|résume|réécris|améliore|analyse|relis)\b[^.!?\n]{0,60}(?::\s*"
        r"|\b(?:suivante?|ce (?:texte|mail|message)|cette (?:phrase|lettre))\b)",
        r"\b(?:fais semblant|imagine que|joue le rôle|écris(?:-moi)? une? (?:\w+ )?(?:histoire|poème|conte|dialogue"
        r"|chanson|lettre|mail))\b",
    ),
    hearsay=pattern(
        r"^(?:j['’]ai (?:entendu(?: dire)?|lu) que?|on dit que|il paraît|selon (?!moi\b)|d['’]après "
        r"(?!moi\b))(?!.*\b(?:mon|ma|mes|nous|notre)\b)"),
    applause=pattern(
        r"^(?:c['’]est (?:super|génial|bien|cool|beau|magnifique|incroyable|formidable|une bonne idée|gentil)"
        r"|quel(?:le)? (?:bonne|beau|belle)|tu as (?:raison|bien)|je suis (?:content|contente|heureux|heureuse|fier"
        r"|fière) (?:pour|de) (?:toi|vous)|"
        r"bravo|félicitations|merci|je (?:comprends|vois)\b|bonne (?:chance|idée)|je suis d['’]accord)",
    ),
    remember=pattern(
        r"^(?:ok,? |hé,? |et |alors,? )?(?:s['’]il (?:te|vous) plaît,? |peux-tu |pourrais-tu |tu peux |tu dois |je "
        r"(?:veux|voudrais) que tu )*(?:souviens-toi|souvenez-vous|rappelle-toi|rappelez-vous|retiens|retenez|te "
        r"souvenir|te souviennes|mémorise[rz]?|"
        r"n['’]oublie(?:z|r)? pas|ne pas oublier|garde en (?:mémoire|tête)|note[rz]?|prends note|enregistre[rz]?"
        r"|sache[z]?)(?! (?:quand|comment|où)\b)"
        r"(?: (?:pour (?:la prochaine fois|plus tard|l['’]avenir)|bien|ceci|s['’]il te plaît))*(?:\s*[:,]\s*"
        r"|\s+)(?:que\s+|qu['’]|du fait que\s+|de\s+)?(?P<what>\S.+)",
    ),
    standing=pattern(
        r"^(?:s['’]il te plaît,? )?(?:à partir de maintenant|dorénavant|désormais,? (?:réponds|parle|écris|utilise"
        r"|appelle)|à l['’]avenir|dès maintenant)\b",
        r"^(?:réponds|réponds-moi|parle-moi|écris-moi|utilise) (?:toujours|uniquement|seulement)\b"
        r"|^appelle-moi\b(?! (?:demain|plus tard|quand|à))|^ne (?:me )?(?:propose|suggère|réponds|recommande"
        r"|m['’]appelle) jamais\b",
    ),
    forget=pattern(
        r"^(?:ok,? |et |s['’]il (?:te|vous) plaît,? |peux-tu |pourrais-tu |tu peux |tu dois |je (?:veux|voudrais) "
        r"que tu )*(?:oublie[rzs]?)(?!-|\s+(?:ça|cela)\W*$| pas\b)\s+(?:que\s+|qu['’])?(?P<what>\S.+)",
        r"^(?:s['’]il (?:te|vous) plaît,? |peux-tu |pourrais-tu )*(?:efface[rz]?|supprime[rz]?)\s+(?P<what>(?:tout )?ce "
        r"que (?:tu sais|je t['’]ai dit)\b.*|(?:tous )?(?:mes|tes|les) souvenirs\b.*)",
    ),
    forget_all=pattern(
        r"^(?:tout(?: ce)?(?: (?:que|ce que)? ?(?:tu sais|je t['’]ai dit|vous savez))?|ce que tu sais|tous (?:les"
        r"|mes) souvenirs)(?: (?:sur|de|à propos de) (?:moi|nous))?\W*$"),
    ignore=pattern(
        r"(?:^|\b(?:plaît,?|mais|et) )ne (?:retiens|retenez|mémorise|enregistre|note|garde|sauvegarde)[rz]? (?:pas"
        r"|rien)(?: (?:que|ceci|cela|ça|de|sur|ce que))?\s*(?P<what>(?:\w.*)?)"),
    likes=pattern(
        r"\b(?:aim(?:e|ais|ons)|adore|déteste|hais|préfèr\w+|préférée?s?|ne supporte pas|passionnée?|toujours"
        r"|d['’]habitude|jamais|évite|végétarien(?:ne)?|végane?|allergique|fan de|plutôt|"
        r"utilise principalement)\b"
    ),
    negation=pattern(r"\b(?:ne|pas|plus|jamais|sans|arrêté|déteste|hais)\b|\bn['’]"),
    change=pattern(
        r"\b(?:maintenant|désormais|ne|pas|plus|arrêté|changé|passé|en fait|plutôt|déménagé|de nouveau|récemment"
        r"|actuellement)\b|\bn['’]"),
    additive=pattern(
        r"\b(?:aussi|également|en plus|un autre|une autre|deuxième|à temps partiel|temporairement|parfois)\b"),
    slots=(
        Slot("home", pattern(
            rf"{_NOW}(?:je vis|j['’]habite|nous habitons|on habite|nous vivons){_ADV} (?:à |en |au |aux )?{_VALUE}",
            rf"{_NOW}(?:j['’]ai|nous avons|on a){_ADV} (?:emménagé|déménagé){_ADV} (?:de .{{1,40}}? )?(?:à|en|au"
            rf"|dans) {_VALUE}",
                rf"{_NOW}je (?:me )?suis{_ADV} (?:installée?|venue? vivre) (?:à|en|au) {_VALUE}")),
        Slot("home", pattern(rf"{_NOW}(?:je n['’]habite|je ne vis) plus (?:à|en|au|dans) {_VALUE}"), ended=True),
        Slot("employer", pattern(
            rf"{_NOW}je travaille{_ADV} (?:chez|pour) {_VALUE}")),
        Slot("employer", pattern(
            rf"{_NOW}je travaille{_ADV} (?:à|au|dans) (?!la maison|domicile|distance){_VALUE}",
            rf"{_NOW}(?:je viens de commencer|j['’]ai{_ADV} commencé)(?: à travailler| un nouveau travail)? (?:chez"
            rf"|à|pour) {_VALUE}",
            rf"{_NOW}j['’]ai{_ADV} rejoint {_VALUE}"), firm=False),
        Slot("employer", pattern(rf"{_NOW}je ne travaille plus (?:chez|pour|à|au|dans) {_VALUE}",
            r"\bj['’]ai (?:perdu|quitté) mon (?:travail|emploi|boulot)\b",
            r"\bje suis (?:au chômage|retraitée?|à la retraite)\b"), ended=True),
        Slot("job", pattern(rf"{_NOW}je travaille{_ADV} comme (?:une? )?{_VALUE}",
            rf"{_NOW}je suis{_ADV} (?:devenue? )?(?:une? )?(?P<value>(?:ingénieure?|infirmi(?:er|ère)|médecin"
            rf"|docteur|professeure?|enseignante?|avocate?|cuisini(?:er|ère)|étudiante?|"
            r"programmeu(?:r|se)|développeu(?:r|se)|architecte|journaliste|graphiste|serveu(?:r|se)|plombi(?:er"
            r"|ère)|électricienn?e?|psychologue|comptable|pharmacienn?e?|boulang(?:er|ère)))\b")),
        Slot("diet", pattern(rf"{_NOW}je suis{_ADV} (?:devenue? )?{_DIET}",
            r"\bje (?:re)?mange(?: de nouveau| à nouveau)? (?:de la )?(?P<value>viande)\b",
            r"\bje mange (?P<value>de tout)\b")),
        Slot("diet", pattern(rf"{_NOW}je ne suis (?:plus|pas) {_DIET}"), ended=True),
        Slot("avoids", pattern(rf"{_NOW}je ne (?:mange|bois) (?:pas|plus|jamais) (?:de |d['’])?{_VALUE}"),
            single=False),
        Slot("allergy", pattern(rf"{_NOW}je suis (?:allergique|intolérante?) (?:à la|à l['’]|aux?|à) ?{_VALUE}"),
            single=False),
        Slot("name", pattern(r"\bje m['’]appelle (?P<value>[^,.;!?(]{1,40}?)(?= et | mais |\s*[,.;!?(]|\s*$)",
            r"\bmon (?:pré)?nom est (?P<value>[^,.;!?(]{1,40}?)(?= et | mais |\s*[,.;!?(]|\s*$)",
            )),
        Slot("name", pattern(r"^appelle-moi (?P<value>[^,.;!?(]{1,40}?)(?= et | mais |\s*[,.;!?(]|\s*$)"), firm=False),
        Slot("age", pattern(r"\bj['’]ai(?: maintenant| déjà| eu)? (?P<value>\d{1,3}) ans\b(?! d[e'’])")),
        Slot("birthday", pattern(rf"\bmon anniversaire est(?: le)? {_VALUE}")),
        Slot("favourite", pattern(
            rf"\b(?:mon|ma|mes) (?P<key>[\w' ]{{1,30}}?) préférée?s?{_ADV} (?:est|sont|c['’]est){_ADV} {_VALUE}")),
        Slot("phone", pattern(
            r"\bmon (?:numéro(?: de téléphone)?|téléphone|portable) est (?:le )?(?P<value>[+(]?\d[\d ()./-]+)")),
    ),
    nouns={
        "régime": "diet", "alimentation": "diet", "mange": "diet", "nourriture": "diet", "maison": "home",
        "habite": "home", "vis": "home",
            "domicile":
            "home",
            "ville":
            "home",
            "adresse":
            "address",
        "travail": "job", "emploi": "job", "métier": "job", "profession": "job", "boulot": "job", "nom": "name",
        "prénom": "name",
            "âge":
            "age",
            "anniversaire":
            "birthday",
            "téléphone":
            "phone",
        "email": "email", "mail": "email", "voiture": "car", "allergies": "allergy", "allergie": "allergy", "animaux":
            "pet",
            "couple":
            "partner",
    },
    dates=DateWords(
        days={"avant-hier": -2, "hier": -1, "hier soir": -1, "aujourd'hui": 0, "aujourd’hui": 0, "ce matin": 0,
            "ce soir": 0,
            "cet après-midi": 0,
            "cette nuit": 0,
            "après-demain": 2,
            "demain": 1},
        spans={
            "la semaine dernière": ("week", -1), "la semaine passée": ("week", -1), "cette semaine": ("week", 0),
                "la semaine prochaine": (
                "week", 1),
                "le week-end dernier": (
                "weekend", -1),
            "le weekend dernier": ("weekend", -1), "ce week-end": ("weekend", 0), "le week-end prochain": ("weekend",
            1),
                "le mois dernier": (
                "month", -1),
                "ce mois-ci": (
                "month", 0),
                "le mois prochain": (
                "month", 1),
            "l'année dernière": ("year", -1), "l’année dernière": ("year", -1), "l'an dernier": ("year", -1),
            "cette année": ("year", 0),
                "l'année prochaine": (
                "year", 1),
                "l’année prochaine": (
                "year", 1),
                "l'an prochain": (
                "year", 1),
        },
        numbers={"un": 1, "une": 1, "deux": 2, "trois": 3, "quatre": 4, "cinq": 5, "six": 6, "sept": 7, "huit": 8,
            "neuf": 9,
            "dix": 10,
            "douze": 12,
            "quinze": 15,
            "vingt": 20},
        units={"jour": "day", "jours": "day", "semaine": "week", "semaines": "week", "mois": "month", "an": "year",
            "ans":
            "year",
            "année":
            "year",
            "années":
            "year"},
        ago=r"il y a {n} {unit}",
        ahead=r"dans {n} {unit}",
        weekdays={"lundi": 0, "mardi": 1, "mercredi": 2, "jeudi": 3, "vendredi": 4, "samedi": 5, "dimanche": 6},
        named=(("{weekday} derni(?:er|ère)", "last"), ("ce {weekday}", "this"), ("{weekday} prochaine?", "next")),
        months=("janvier", "février", "mars", "avril", "mai", "juin", "juillet", "août", "septembre", "octobre",
            "novembre",
            "décembre"),
    ),
)  # fmt: skip
