"""Italian."""

from __future__ import annotations

from adk_memorybank.generation.lexicon.language import DateWords, Language, Slot, pattern, words

_SUBJECT = r"^(?:io )?(?:ora |adesso |oggi |attualmente |ormai |da poco |mi )*"
_ADV = r"(?: (?:ora|adesso|attualmente|ormai|ancora|appena|da poco|di nuovo|anche|oggi))*"
_END = (
    r"(?=\s+(?:e|ed|ma|perché|però|con|da quando|da|dove|che|mentre|adesso|ora|ormai|anche|insieme)\b"
    r"|\s*[,;.!?(]|\s+[-–—]\s|\s*$)"
)
_VALUE = rf"(?P<value>\S.{{0,60}}?){_END}"
_DIET = r"(?P<value>vegetarian[ao]|vegan[ao]|onnivor[ao]|pescetarian[ao]|celiac[ao])\b"
_DAY = r"{weekday}"

LANGUAGE = Language(
    code="it",
    function_words=words(
        "il lo la i gli le l un uno una di a da in con su per tra fra del dello della dei degli delle al allo alla "
        "ai agli "
        "alle dal dalla nel nello nella nei nelle sul sulla e ed o ma che chi cui non mi ti si ci vi ne me te se "
        "sono è sei "
        "siamo siete ho hai ha abbiamo avete hanno era ero mio mia miei mie tuo tua suo sua nostro nostra io tu lui "
        "lei noi "
        "voi loro questo questa quello quella come quando dove perché cosa anche più fa d c dell all nell"
    ),
    soft_words=words(
        "molto davvero proprio tanto solo anche sempre spesso principalmente soprattutto ora adesso ancora già più "
        "ormai "
        "attualmente veramente oggi ieri domani di nuovo abbastanza chiamo chiama"
    ),
    same_words={
        "amo": "piace", "adoro": "piace", "odio": "piace", "detesto": "piace", "piacciono": "piace", "abito": "vivo",
        "risiedo": "vivo",
    },
    openers=pattern(
        r"(?:ciao(?: [A-Z]\w+)?|salve|buongiorno|buonasera|ehi|hey|allora|beh?|dunque|comunque|ok|va bene|certo|sì"
        r"|no|grazie(?: mille)?"
        r"|oh|ah|wow|perfetto|ottimo|bello|insomma)\s*(?:[,!.:—–]|\.\.\.|…)+\s*"
    ),
    small_talk=words(
        "ciao salve buongiorno buonasera buonanotte grazie mille tante prego ok va bene certo perfetto ottimo bello "
        "bellissimo "
        "fantastico che davvero sì no arrivederci presto dopo a domani figurati scusa scusami capito d'accordo "
        "esatto bravo "
        "brava complimenti auguri tutto bene ottima idea così"
    ),
    first_person=pattern(
        r"\b(?:io|mi|me|mio|mia|miei|mie|noi|ci|nostr[oaie]|sono|ho|ero|abbiamo|siamo|vorrei)\b|\bm['’]",
        r"\b(?:vivo|abito|lavoro|amo|odio|adoro|preferisco|mangio|bevo|faccio|vado|uso|studio|gioco|parlo|penso"
        r"|credo|voglio|devo|posso|sto|"
        r"so|compro|guido|leggo|scrivo|viaggio|corro|nuoto|suono|cerco|parto|torno|frequento|soffro|evito|detesto"
        r"|conosco|seguo|tengo)\b",
        r"\b\w{2,}(?:avo|evo|ivo|erò|irò|iamo|eremo|iremo|isco)\b",
    ),
    question=pattern(
        r"^(?:e |ma )?(?:chi|che cosa|cosa|dove|quando|perché|come|quale|quali|quanto|quanti|quante|quanta)\b(?! "
        r"(?:ho|ero|sono|vado|vivevo|posso)\b)"
        r"(?: \S+)* ?\?",
        r"^(?:che cosa|cosa|com'è|com’è|dov'è|chi è|qual è|come (?:stai|va|si)|perché non)\b",
            r"^(?:mi )?(?:sai|puoi|potresti|conosci|hai|vuoi) ",
        r"^mi (?:chiedevo|domandavo|chiedo)\b",
    ),
    request=pattern(
        r"^(?:per favore|per piacere|puoi|potresti|mi (?:puoi|potresti|dici|dai|fai|aiuti|serve aiuto)|dimmi|dammi"
        r"|fammi|mostrami|scrivi|scrivimi|"
        r"aiutami|spiegami|traduci|trova|trovami|cerca|prenota|calcola|riassumi|correggi|elenca|consigliami"
        r"|suggeriscimi|crea|genera|"
        r"parlami|descrivi|andiamo|vorrei (?:sapere|che tu)|ho bisogno (?:del tuo aiuto|di aiuto|che tu)|ricordami "
        r"di)\b",
    ),
    unreal=pattern(
        r"^(?:se|immagina|immaginiamo|supponi|supponiamo|facciamo finta|metti che|mettiamo che|ipotizziamo|magari)\b",
        r"\bse (?:fossi|avessi|potessi|vivessi|vincessi)\b|\b(?:sto scherzando|scherzo|il mio personaggio|per finta)\b",
    ),
    material=pattern(
        r"\b(?:traduci|correggi|riassumi|riscrivi|migliora|analizza|rivedi)\b[^.!?\n]{0,60}(?::\s*|\b(?:seguente"
        r"|questo testo|questa (?:frase|mail|lettera)|questa email)\b)",
        r"\b(?:fai finta|facciamo finta|immagina (?:di|che)|interpreta|scrivi(?:mi)? (?:una|un) (?:\w+ )?(?:storia"
        r"|poesia|racconto|dialogo|canzone|lettera|email))\b",
    ),
    hearsay=pattern(
        r"^(?:ho (?:sentito|letto)(?: dire)? che|dicono che|si dice|pare che|sembra che|secondo "
        r"(?!me\b))(?!.*\b(?:mio|mia|miei|mie|noi)\b)"),
    applause=pattern(
        r"^(?:che (?:bello|bella|brav|fort|meraviglia)|è (?:bellissimo|fantastico|ottimo|interessante)\b|hai "
        r"(?:ragione|fatto)|sono (?:contento|contenta|felice|orgoglios[oa]) (?:per|di) te|"
        r"bravo|brava|complimenti|congratulazioni|grazie|mi fa piacere|capisco|buona (?:fortuna|idea)|fammi sapere"
        r"|sono d'accordo)",
    ),
    remember=pattern(
        r"^(?:ok,? |ehi,? |e |allora,? )?(?:per favore,? |per piacere,? |puoi |potresti |vorrei che tu |devi |mi "
        r"raccomando,? )*(?:ricorda(?:ti|re|rti)?|ricordi|"
        r"memorizza(?:re)?|tieni (?:a mente|presente|conto)|non (?:ti )?dimenticar(?:e|ti)|non scordar(?:e|ti)"
        r"|annota(?:re|ti)?|prendi nota|segna(?:ti)?|salva|sappi)"
        r"(?! (?:quando|come|dove)\b)(?: (?:per (?:la prossima volta|il futuro|favore)|questo|il "
        r"fatto))*(?:\s*[:,]\s*|\s+)(?:che\s+|del fatto che\s+|di\s+)?(?P<what>\S.+)",
    ),
    standing=pattern(
        r"^(?:per favore,? )?(?:d'ora in poi|d’ora in poi|da ora in poi|da adesso in poi|in futuro|da oggi in poi)\b",
        r"^(?:rispondi(?:mi)?|parlami|scrivimi|usa|chiamami) (?:sempre|solo|soltanto)\b|^(?:chiamami)\b(?! "
        r"(?:domani|dopo|quando|alle))|^non (?:usare|chiamarmi|suggerir(?:e|mi)|propor(?:re|mi)) mai\b",
    ),
    forget=pattern(
        r"^(?:ok,? |ehi,? |e |anzi,? )?(?:per favore,? |per piacere,? |puoi |potresti |vorrei che tu |devi "
        r")*(?:dimentica(?:re|ti|rti)?|dimenticassi|scorda(?:ti|re|rti)?)(?! (?:di|lo)\b(?! quello| ciò))"
        r"\s+(?:che\s+|di\s+)?(?P<what>\S.+)",
        r"^(?:per favore,? |puoi |potresti )*(?:cancella(?:re)?|elimina(?:re)?|rimuovi"
        r"|rimuovere)\s+(?P<what>(?:quello|ciò|tutto|quanto)(?: (?:quello|ciò|quanto))? (?:che )?(?:sai|ricordi"
        r"|ti ho detto)\b.*|(?:tutti )?(?:i miei |i tuoi |i )ricordi\b.*)",
    ),
    forget_all=pattern(
        r"^(?:tutto(?: (?:quello|ciò))?(?: (?:che sai|che ti ho detto|quanto|quello che sai))?|quello che sai|ciò "
        r"che sai)(?: (?:su|di) (?:me|noi))?\W*$",
        r"^(?:tutti )?(?:i |i miei |i tuoi )?ricordi(?: su di me)?\W*$"),
    ignore=pattern(
        r"(?:^|\b(?:per favore|ma|e) )non (?:ricordare|memorizzare|salvare|registrare|conservare|annotare|tenere a "
        r"mente)(?: (?:che|questo|quello che ho detto|nulla di|niente su))?\s*(?P<what>(?:\w.*)?)"),
    likes=pattern(
        r"\b(?:mi (?:piace|piacciono|piaceva)|non mi (?:piace|piacciono)|amo|adoro|odio|detesto|preferisco"
        r"|preferit[oaie]|non sopporto|appassionat[oa]|sempre|di solito|mai|"
        r"evito|vegetarian[oa]|vegan[oa]|allergic[oa]|uso principalmente|piuttosto)\b"
    ),
    negation=pattern(r"\b(?:non|mai|più|nessun[oa]?|senza|smesso|odio|detesto)\b"),
    change=pattern(
        r"\b(?:ora|adesso|ormai|non|più|smesso|cambiato|passato|invece|in realtà|trasferit[oa]|da poco|di nuovo"
        r"|anzi|attualmente)\b"),
    additive=pattern(r"\b(?:anche|inoltre|oltre|un altr[oa]|secondo lavoro|part[- ]time|temporaneamente|a volte)\b"),
    slots=(
        Slot("home", pattern(
            rf"{_SUBJECT}(?:vivo|abito|risiedo|sto vivendo|vivo){_ADV} (?:a|ad|in|nel|nella) {_VALUE}",
            rf"{_SUBJECT}(?:mi )?(?:sono|ci siamo|siamo){_ADV} trasferit[oaie]{_ADV} (?:da .{{1,40}}? )?(?:a|ad|in"
            rf"|nel|nella) {_VALUE}")),
        Slot("home", pattern(rf"{_SUBJECT}non (?:vivo|abito) più (?:a|ad|in|nel|nella) {_VALUE}"), ended=True),
        Slot("employer", pattern(
            rf"{_SUBJECT}lavoro{_ADV} (?:per|presso) (?!casa\b|remoto\b|proprio\b){_VALUE}")),
        Slot("employer", pattern(
            rf"{_SUBJECT}lavoro{_ADV} (?:da|in|alla|al|all['’]) ?(?!casa\b|remoto\b|proprio\b){_VALUE}",
            rf"{_SUBJECT}ho{_ADV} (?:iniziato|cominciato)(?: un nuovo lavoro| a lavorare)?{_ADV} (?:per|da|in|alla"
            rf"|al|presso) {_VALUE}"), firm=False),
        Slot("employer", pattern(rf"{_SUBJECT}non lavoro più (?:per|da|in|alla|al|presso) {_VALUE}",
            r"\bho (?:perso|lasciato) il (?:mio )?lavoro\b",
            r"\bsono (?:disoccupat[oa]|in pensione)\b"), ended=True),
        Slot("job", pattern(
            rf"{_SUBJECT}(?:lavoro{_ADV} come|faccio{_ADV} (?:il|la|lo|l['’])|sono{_ADV} diventat[oa]) ?(?:un |una "
            rf"|un['’])?{_VALUE}",
            rf"^(?:io )?sono{_ADV} (?:un |una |un['’])?(?P<value>(?:ingegnere|infermier[ea]|medico|dottore"
            rf"|dottoressa|insegnante|avvocat[oa]|cuoc[oa]|chef|studente|studentessa|programmatore|"
            r"programmatrice|architett[oa]|giornalista|grafic[oa]|barista|camerier[ea]|professore|professoressa"
            r"|idraulico|elettricista|commess[oa]|autista|farmacista))\b")),
        Slot("diet", pattern(rf"^(?:io )?(?:sono|sono diventat[oa]){_ADV} {_DIET}",
            r"\b(?:mangio|ho ricominciato a mangiare|(?:sono )?tornat[oa] a mangiare)(?: di nuovo| ora)? "
            r"(?P<value>carne|di tutto)\b")),
        Slot("diet", pattern(rf"^(?:io )?non sono (?:più )?{_DIET}"), ended=True),
        Slot("avoids", pattern(rf"^(?:io )?non (?:mangio|bevo)(?: più)? {_VALUE}"), single=False),
        Slot("allergy", pattern(
            rf"^(?:io )?sono (?:allergic[oa]|intollerante) (?:a|al|alla|alle|ai|agli|all['’]) ?{_VALUE}"),
            single=False),
        Slot("name", pattern(r"\bmi chiamo (?P<value>[^,.;!?(]{1,40}?)(?= e | ma |\s*[,.;!?(]|\s*$)",
            r"\bil mio nome è (?P<value>[^,.;!?(]{1,40}?)(?= e | ma |\s*[,.;!?(]|\s*$)",
            )),
        Slot("name", pattern(r"^chiamami (?P<value>[^,.;!?(]{1,40}?)(?= e | ma |\s*[,.;!?(]|\s*$)"), firm=False),
        Slot("age", pattern(r"\bho(?: ora| già| appena)? (?P<value>\d{1,3}) anni\b(?! d[i'’])",
            r"\bho (?:appena )?compiuto (?P<value>\d{1,3}) anni\b")),
        Slot("birthday", pattern(rf"\bil mio compleanno è(?: il)? {_VALUE}")),
        Slot("favourite", pattern(
            rf"\b(?:il mio|la mia|i miei|le mie) (?P<key>[\w' ]{{1,30}}?) preferit[oaie]{_ADV} (?:è|sono){_ADV} "
            rf"{_VALUE}",
            rf"\b(?:il mio|la mia) (?P<key>[\w' ]{{1,30}}?) preferit[oa] (?:ora|adesso) è {_VALUE}")),
        Slot("phone", pattern(
            r"\bil mio (?:numero di (?:telefono|cellulare)|numero|cellulare|telefono) è (?P<value>[+(]?\d[\d "
            r"()./-]+)")),
    ),
    nouns={
        "dieta": "diet", "alimentazione": "diet", "mangio": "diet", "casa": "home", "vivo": "home", "abito": "home",
            "residenza":
            "home",
            "città":
            "home",
        "indirizzo": "address", "lavoro": "job", "professione": "job", "nome": "name", "età": "age", "anni": "age",
            "compleanno":
            "birthday",
        "telefono": "phone", "cellulare": "phone", "email": "email", "auto": "car", "macchina": "car", "allergie":
            "allergy",
            "allergia":
            "allergy",
        "animali": "pet", "partner": "partner",
    },
    dates=DateWords(
        days={"l'altro ieri": -2, "avantieri": -2, "ieri": -1, "ieri sera": -1, "oggi": 0, "stamattina": 0,
            "stasera": 0,
            "stanotte": 0,
            "dopodomani": 2,
            "domani": 1},
        spans={
            "la settimana scorsa": ("week", -1), "la scorsa settimana": ("week", -1), "questa settimana": ("week", 0),
                "la settimana prossima": (
                "week", 1),
            "la prossima settimana": ("week", 1), "lo scorso weekend": ("weekend", -1), "lo scorso fine settimana": (
                "weekend", -1),
                "questo weekend": (
                "weekend", 0),
            "il mese scorso": ("month", -1), "lo scorso mese": ("month", -1), "questo mese": ("month", 0),
                "il mese prossimo": (
                "month", 1),
                "il prossimo mese": (
                "month", 1),
            "l'anno scorso": ("year", -1), "lo scorso anno": ("year", -1), "quest'anno": ("year", 0),
                "l'anno prossimo": (
                "year", 1),
                "il prossimo anno": (
                "year", 1),
        },
        numbers={"un": 1, "uno": 1, "una": 1, "due": 2, "un paio di": 2, "tre": 3, "quattro": 4, "cinque": 5,
            "sei": 6, "sette": 7,
            "otto": 8,
            "nove": 9,
            "dieci": 10,
            "dodici": 12,
            "quindici": 15,
            "venti": 20},
        units={"giorno": "day", "giorni": "day", "settimana": "week", "settimane": "week", "mese": "month", "mesi":
            "month",
            "anno":
            "year",
            "anni":
            "year"},
        ago=r"{n} {unit} fa",
        ahead=r"(?:tra|fra) {n} {unit}",
        weekdays={"lunedì": 0, "martedì": 1, "mercoledì": 2, "giovedì": 3, "venerdì": 4, "sabato": 5, "domenica": 6},
        named=((f"(?:scors[oa] {_DAY}|{_DAY} scors[oa])", "last"), (f"quest[oa] {_DAY}", "this"), (
            f"(?:prossim[oa] {_DAY}|{_DAY} prossim[oa])",
            "next")),
        months=("gennaio", "febbraio", "marzo", "aprile", "maggio", "giugno", "luglio", "agosto", "settembre",
            "ottobre",
            "novembre",
            "dicembre"),
    ),
)  # fmt: skip
