"""German."""

from __future__ import annotations

from adk_memorybank.generation.lexicon.language import DateWords, Language, Slot, pattern, words

_ADV = r"(?: (?:jetzt|nun|aktuell|derzeit|auch|noch|gerade|inzwischen|mittlerweile|wieder|kürzlich|seit kurzem|schon))*"
_END = (
    r"(?=\s+(?:und|aber|weil|mit|seit|wo|der|die|das|während|jetzt|nun|auch|wieder|zusammen|gezogen|umgezogen"
    r"|angefangen|gewechselt)\b|\s*[,;.!?(]|\s+[-–—]\s|\s*$)"
)
_VALUE = rf"(?P<value>\S.{{0,60}}?){_END}"
_DIET = r"(?P<value>vegetarier(?:in)?|veganer(?:in)?|vegetarisch|vegan|pescetarier(?:in)?|allesesser(?:in)?)\b"

LANGUAGE = Language(
    code="de",
    function_words=words(
        "der die das den dem des ein eine einen einem einer eines in im an am auf aus bei mit nach von vom zu zum "
        "zur für über und "
        "oder aber dass nicht kein keine ich du er sie es wir ihr mich mir dich dir uns sich mein meine meinen "
        "meinem meiner dein "
        "deine sein seine unser unsere bin ist bist sind war waren habe hast hat haben hatte wird werde werden wie "
        "wo wann was wer "
        "warum auch noch schon so als wenn weil ja nein"
    ),
    soft_words=words(
        "sehr wirklich nur auch immer oft meistens hauptsächlich vor allem jetzt nun noch schon mehr derzeit "
        "aktuell heute gestern "
        "morgen neu ziemlich gerne gern heiße heißt wieder inzwischen"
    ),
    same_words={"liebe": "mag", "hasse": "mag", "lebe": "wohne", "verabscheue": "mag"},
    openers=pattern(
        r"(?:hallo(?: [A-Z]\w+)?|hi|hey|guten (?:tag|morgen|abend)|also|na|nun|okay|ok|ja|nein|danke(?: schön)?"
        r"|vielen dank|ach|oh|super|toll|klar|übrigens)\s*(?:[,!.:—–]|\.\.\.|…)+\s*"
    ),
    small_talk=words(
        "hallo hi hey guten tag morgen abend gute nacht danke schön vielen dank bitte ok okay ja nein super toll "
        "klasse prima perfekt "
        "tschüss bis bald später entschuldigung verstanden genau klar alles sehr gut glückwunsch viel glück spaß "
        "das ist"
    ),
    first_person=pattern(r"\b(?:ich|mich|mir|mein(?:e[nmrs]?)?|wir|uns|unser(?:e[nmrs]?)?)\b"),
    question=pattern(
        r"^(?:und |aber )?(?:was|wer|wen|wem|wo|wohin|woher|wann|warum|wieso|weshalb|wie|welche[rsnm]?|wie "
        r"viele?)\b(?! ich )",
            r"^(?:kannst|könntest|weißt|kennst|hast|bist|willst|magst|können|könnten|wissen|haben) (?:du|sie)\b",
        r"^ich (?:frage|fragte) mich\b", r"^ich (?:will|möchte) wissen\b",
    ),
    request=pattern(
        r"^(?:bitte|kannst du|könntest du|sag|sage|gib|zeig|zeige|schreib|schreibe|hilf|erklär|erkläre|übersetze?"
        r"|such|suche mir|find|finde mir|buche|reserviere|berechne|fasse|korrigiere|liste|empfiehl|erstelle|"
        r"generiere|beschreibe|erzähl|lass uns|ich (?:brauche|möchte) (?:deine )?(?:hilfe|dass du)|ich möchte,? "
        r"dass du|ich brauche (?:einen )?rat|erinnere mich (?:an|daran,? zu))\b",
    ),
    unreal=pattern(r"^(?:wenn|falls|angenommen|stell dir vor|nehmen wir an|tun wir so|mal angenommen)\b",
        r"\bwenn ich .{0,40}\b(?:wäre|hätte|könnte|würde)\b|\b(?:nur ein scherz|ich scherze|meine figur|mein "
        r"charakter)\b"),
    material=pattern(
        r"\b(?:übersetze?|korrigiere?|fasse|überarbeite|verbessere|analysiere)\b[^.!?\n]{0,60}(?::\s*"
        r"|\b(?:folgende[nrs]?|diesen text|diese (?:mail|nachricht)|diesen satz|diesen brief)\b)",
        r"\b(?:tu so|stell dir vor|spiel(?:e)? die rolle|schreib(?:e)?(?: mir)? eine?n? (?:\w+ )?(?:geschichte"
        r"|gedicht|märchen|dialog|lied|brief|mail))\b",
    ),
    hearsay=pattern(
        r"^(?:ich habe (?:gehört|gelesen),? dass|man sagt|es heißt|angeblich|laut )(?!.*\b(?:mein\w*|wir|uns\w*)\b)"),
    applause=pattern(
        r"^(?:das (?:ist|klingt|war|freut) (?:\w+ )?(?:super|toll|gut|schön|großartig|cool|klasse|mich)|wie schön"
        r"|du (?:hast recht|bist|kannst|schaffst)|ich freue mich für dich|ich bin stolz auf dich|"
        r"glückwunsch|herzlichen|danke|vielen dank|ich verstehe\b|viel (?:glück|spaß|erfolg)|gute idee)",
    ),
    remember=pattern(
        r"^(?:ok,? |hey,? |und |also,? )?(?:bitte,? |kannst du (?:dir )?|könntest du (?:dir )?|du sollst |ich "
        r"möchte,? dass du )*(?:merk(?:e)? dir|merken|merkt euch|erinnere dich(?: daran)?|denk(?:e)? daran"
        r"|behalte(?: im kopf)?|vergiss (?:bitte )?nicht|notier(?:e)?(?: dir)?|"
        r"speicher(?:e|n)?|schreib(?:e)? dir auf|beachte)(?! (?:wann|wie|wo)\b)(?: (?:bitte|für (?:später|die "
        r"zukunft|das nächste mal)|folgendes|das))*(?:\s*[:,]\s*|\s+)(?:dass\s+)?(?P<what>\S.+)",
    ),
    standing=pattern(
        r"^(?:bitte,? )?(?:ab jetzt|von jetzt an|von nun an|ab sofort|in zukunft|künftig|zukünftig|ab heute)\b",
        r"^(?:bitte,? )?(?:antworte?|schreib|sprich|benutze|verwende)(?: mir)? (?:immer|nur|stets)\b|^(?:bitte,? "
        r")?nenn(?:e)? mich\b|^(?:empfiehl|schlag|antworte|nenn)(?: mir| mich)? (?:nie|niemals)\b",
    ),
    forget=pattern(
        r"^(?:ok,? |und |bitte,? |kannst du |könntest du |du sollst |ich möchte,? dass du )*(?:vergiss|vergesst"
        r"|vergessen sie|vergisst)(?! (?:bitte )?nicht\b)(?! (?:es"
        r"|das)\W*$),?\s+(?:bitte,?\s+)?(?:dass\s+)?(?P<what>\S.+)",
        r"^(?:bitte,? |kannst du |könntest du )*(?:lösche?|entferne?)\s+(?:bitte )?(?P<what>(?:alles,? )?was (?:du|ich dir)\b.*"
        r"|(?:alle |deine |meine )+erinnerungen\b.*)",
        r"^(?:bitte,? )?(?:kannst|könntest) du (?P<what>\S.+?) vergessen\b",
    ),
    forget_all=pattern(
        r"^(?:alles|alle erinnerungen)(?:,? (?:was )?(?:du )?(?:über mich|über uns|von mir)?(?: weißt| gespeichert "
        r"hast)?|,? was ich (?:dir )?(?:je )?(?:gesagt|erzählt) habe)?\W*$",
        r"^was du über mich weißt\W*$"),
    ignore=pattern(
        r"(?:^|\b(?:bitte|aber|und) )(?:merk(?:e)? dir|speicher(?:e)?|notier(?:e)?|behalte) (?:das |dies |bitte "
        r")*(?:nicht|nichts)(?:,? (?:dass|von|über|was))?\s*(?P<what>(?:\w.*)?)"),
    likes=pattern(
        r"\b(?:mag|mögen|liebe|hasse|bevorzug\w+|lieblings\w+|gerne?|lieber|am liebsten|kann .{1,30} nicht (?:leiden"
        r"|ausstehen)|fan von|begeistert|immer|normalerweise|meistens|nie|vermeide|vegetarier(?:in)?|"
        r"veganer(?:in)?|vegan|vegetarisch|allergisch|benutze hauptsächlich|gefällt mir|schmeckt mir)\b"
    ),
    negation=pattern(r"\b(?:nicht|kein\w*|nie|niemals|ohne|aufgehört|hasse)\b"),
    change=pattern(
        r"\b(?:jetzt|nun|nicht|mehr|kein\w*|aufgehört|gewechselt|eigentlich|umgezogen|gezogen|wieder|inzwischen"
        r"|mittlerweile|stattdessen|neuerdings)\b"),
    additive=pattern(
        r"\b(?:auch|außerdem|zusätzlich|noch ein\w*|zweite[rn]?|nebenbei|teilzeit|vorübergehend|manchmal)\b"),
    slots=(
        Slot("home", pattern(
            rf"\b(?:ich (?:wohne|lebe)|(?:wohne|lebe) ich|wir (?:wohnen|leben)){_ADV} in {_VALUE}",
            rf"\b(?:ich bin|wir sind|bin ich){_ADV} (?:von .{{1,40}}? )?nach (?P<value>\S.{{0,40}}?) (?:gezogen"
            rf"|umgezogen)\b")),
        Slot("home", pattern(r"\bich (?:wohne|lebe) nicht mehr in (?P<value>[\w -]{1,40})"), ended=True),
        Slot("employer", pattern(
            rf"\b(?:ich arbeite|arbeite ich){_ADV} (?:bei|für) (?!zu hause\b){_VALUE}",
            rf"\bich habe{_ADV} bei (?P<value>\S.{{0,40}}?) (?:angefangen|begonnen)\b")),
        Slot("employer", pattern(rf"\b(?:ich arbeite|arbeite ich){_ADV} in (?!homeoffice\b){_VALUE}"), firm=False),
        Slot("employer", pattern(rf"\bich arbeite nicht mehr (?:bei|für) {_VALUE}",
            r"\bich habe meine(?:n|e) (?:job|arbeit|stelle) (?:verloren|gekündigt)\b",
            r"\bich bin (?:arbeitslos|in rente|rentner(?:in)?)\b"), ended=True),
        Slot("job", pattern(rf"\b(?:ich arbeite|arbeite ich){_ADV} als (?:eine? )?{_VALUE}",
            rf"\bich bin{_ADV} (?:eine? )?(?P<value>(?:\w*ingenieur|krankenschwester|pfleger|krankenpfleger|arzt"
            rf"|ärztin|lehrer|anwalt|anwältin|koch|köchin|student|"
            r"\w*entwickler|programmierer|architekt|journalist|designer|kellner|klempner|elektriker|psychologe"
            r"|psychologin|buchhalter|apotheker|bäcker)(?:in)?)\b(?! geworden)",
            r"\bich bin (?P<value>\w+) geworden\b")),
        Slot("diet", pattern(rf"\b(?:ich bin|bin ich|ich lebe){_ADV} {_DIET}",
            rf"\bich (?:ernähre mich|esse){_ADV} (?P<value>vegan|vegetarisch)\b",
            rf"\bich esse{_ADV} (?P<value>fleisch|alles)\b")),
        Slot("diet", pattern(rf"\bich bin (?:kein(?:e)?|nicht(?: mehr)?) {_DIET}",
            r"\bich bin keine? (?P<value>vegetarier(?:in)?|veganer(?:in)?) mehr\b"), ended=True),
        Slot("avoids", pattern(rf"\bich (?:esse|trinke) (?:kein(?:e[nrms]?)?|nie) {_VALUE}"), single=False),
        Slot("allergy", pattern(rf"\bich bin (?:allergisch|allergiker) (?:gegen|auf) {_VALUE}"), single=False),
        Slot("name", pattern(r"\bich heiße (?:jetzt )?(?P<value>[^,.;!?(]{1,40}?)(?= und | aber |\s*[,.;!?(]|\s*$)",
            r"\bmein name ist (?:jetzt )?(?P<value>[^,.;!?(]{1,40}?)(?= und | aber |\s*[,.;!?(]|\s*$)",
            )),
        Slot("name", pattern(
            r"^(?:bitte )?nenne? mich (?P<value>[^,.;!?(]{1,40}?)(?= und | aber |\s*[,.;!?(]|\s*$)"), firm=False),
        Slot("age", pattern(
            r"\bich bin(?: jetzt| schon| gerade)? (?P<value>\d{1,3})(?: jahre alt| geworden|\s*[,.;!]|\s*$)")),
        Slot("birthday", pattern(rf"\bmein geburtstag ist(?: am)? {_VALUE}",
            r"\bich habe am (?P<value>\S.{0,30}?) geburtstag\b")),
        Slot("favourite", pattern(rf"\bmeine? lieblings(?P<key>\w+){_ADV} (?:ist|sind){_ADV} {_VALUE}")),
        Slot("phone", pattern(r"\bmeine (?:telefonnummer|handynummer|nummer) ist (?P<value>[+(]?\d[\d ()./-]+)")),
    ),
    nouns={
        "ernährung": "diet", "essen": "diet", "diät": "diet", "esse": "diet", "wohnort": "home", "wohne": "home",
        "lebe": "home", "zuhause": "home",
            "stadt":
            "home",
            "adresse":
            "address",
            "arbeit":
            "job",
        "job": "job", "beruf": "job", "name": "name", "namen": "name", "alter": "age", "geburtstag": "birthday",
        "telefonnummer": "phone", "handynummer": "phone",
            "email":
            "email",
            "auto":
            "car",
            "allergien":
            "allergy",
        "allergie": "allergy", "haustiere": "pet", "haustier": "pet", "beziehung": "partner",
    },
    dates=DateWords(
        days={"vorgestern": -2, "gestern": -1, "gestern abend": -1, "heute": 0, "heute morgen": 0, "heute abend": 0,
            "heute früh": 0,
            "übermorgen": 2,
            "morgen": 1},
        spans={
            "letzte woche": ("week", -1), "vorige woche": ("week", -1), "letzter woche": ("week", -1),
            "diese woche": ("week", 0),
                "nächste woche": (
                "week", 1),
                "kommende woche": (
                "week", 1),
                "letztes wochenende": (
                "weekend", -1),
            "am letzten wochenende": ("weekend", -1), "dieses wochenende": ("weekend", 0),
            "nächstes wochenende": ("weekend", 1),
                "letzten monat": (
                "month", -1),
                "diesen monat": (
                "month", 0),
                "nächsten monat": (
                "month", 1),
            "letztes jahr": ("year", -1), "dieses jahr": ("year", 0), "nächstes jahr": ("year", 1),
        },
        numbers={"ein": 1, "einem": 1, "einer": 1, "zwei": 2, "drei": 3, "vier": 4, "fünf": 5, "sechs": 6, "sieben": 7,
            "acht": 8,
            "neun": 9,
            "zehn": 10,
            "zwölf": 12,
            "zwanzig": 20},
        units={"tag": "day", "tagen": "day", "tage": "day", "woche": "week", "wochen": "week", "monat": "month",
            "monaten": "month", "monate": "month",
            "jahr":
            "year",
            "jahren":
            "year",
            "jahre":
            "year"},
        ago=r"vor {n} {unit}",
        ahead=r"in {n} {unit}",
        weekdays={"montag": 0, "dienstag": 1, "mittwoch": 2, "donnerstag": 3, "freitag": 4, "samstag": 5,
            "sonnabend": 5,
            "sonntag": 6},
        named=(("(?:am )?(?:letzten|vergangenen) {weekday}", "last"), ("(?:diesen|an diesem) {weekday}", "this"), (
            "(?:am )?(?:nächsten|kommenden) {weekday}",
            "next")),
        months=("Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober",
            "November",
            "Dezember"),
    ),
)  # fmt: skip
