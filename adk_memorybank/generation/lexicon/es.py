"""Spanish."""

from __future__ import annotations

from adk_memorybank.generation.lexicon.language import DateWords, Language, Slot, pattern, words

_SUBJECT = r"^(?:yo )?(?:ahora |hoy |actualmente |ya |me )*"
_ADV = r"(?: (?:ahora|actualmente|ya|todavía|también|hoy|recientemente|de nuevo))*"
_END = r"(?=\s+(?:y|e|pero|porque|con|desde|donde|que|mientras|ahora|también|junto)\b|\s*[,;.!?(]|\s+[-–—]\s|\s*$)"
_VALUE = rf"(?P<value>\S.{{0,60}}?){_END}"
_DIET = r"(?P<value>vegetarian[ao]|vegan[ao]|omnívor[ao]|pescetarian[ao]|celíac[ao])\b"

LANGUAGE = Language(
    code="es",
    function_words=words(
        "el la los las lo un una unos unas de a en con por para del al y e o pero que quien cual no me te se nos os "
        "mi mis tu "
        "tus su sus yo tú él ella nosotros ellos soy es eres somos son estoy está he has ha hemos han era fue fui "
        "muy como "
        "cuando donde porque qué este esta ese esa esto más hay le les si sí nuestro nuestra"
    ),
    soft_words=words(
        "muy mucho realmente solo sólo también siempre principalmente sobre todo ahora todavía ya más actualmente "
        "hoy ayer "
        "mañana nuevo bastante llamo llama"
    ),
    same_words={"encanta": "gusta", "encantan": "gusta", "gustan": "gusta", "amo": "gusta", "odio": "gusta", "detesto":
        "gusta",
        "resido":
        "vivo"},
    openers=pattern(
        r"(?:hola(?: [A-Z]\w+)?|buenos días|buenas(?: tardes| noches)?|oye|bueno|pues|vale|ok|claro|sí|no|gracias"
        r"|muchas gracias|ah|oh|guau|perfecto"
        r"|genial|por cierto)\s*(?:[,!.:—–]|\.\.\.|…)+\s*"
    ),
    small_talk=words(
        "hola buenos días buenas tardes noches adiós gracias muchas mil de nada vale ok claro perfecto genial "
        "estupendo sí no hasta "
        "luego pronto mañana lo siento perdón entendido qué bien bueno bonito increíble felicidades enhorabuena "
        "todo muy por"
    ),
    first_person=pattern(
        r"\b(?:yo|me|mí|mi|mis|mío|mía|nosotr[oa]s|nos|nuestr[oa]s?|soy|estoy|tengo|he|hemos|estamos|somos|tenemos"
        r"|conmigo|quiero|quisiera)\b",
        r"\b(?:vivo|trabajo|amo|odio|prefiero|como|bebo|hago|voy|uso|estudio|juego|hablo|pienso|creo|quiero|debo"
        r"|puedo|compro|conduzco|leo|escribo|viajo|"
        r"corro|toco|busco|fui|hice|tuve|estuve|dije|vine|pude|puse|suelo|sufro|evito|detesto|conozco|sigo|necesito"
        r"|iba|era|tenía|vamos)\b",
        r"\b\w{2,}(?:é|í|aré|eré|iré|amos|emos|imos|aba|ábamos)\b",
    ),
    question=pattern(r"^¿", r"^(?:qué|quién|dónde|cuándo|por qué|cómo|cuál|cuáles|cuánt[oa]s?)\b",
        r"^(?:me )?(?:sabes|puedes|podrías|conoces|tienes|quieres) ",
        r"^me preguntaba\b"),
    request=pattern(
        r"^(?:por favor|puedes|podrías|me (?:puedes|podrías|ayudas|dices|das)|dime|dame|muéstrame|escribe|escríbeme"
        r"|ayúdame|explícame|traduce|busca|búscame|encuentra|"
        r"reserva|calcula|resume|corrige|lista|recomiéndame|sugiéreme|crea|genera|háblame|describe|quisiera saber"
        r"|quiero (?:saber|que)|necesito (?:ayuda|que|tu ayuda)|recuérdame)\b",
    ),
    unreal=pattern(r"^(?:si|imagina|imaginemos|supongamos|supón|finge|digamos|ojalá|quizás? si)\b",
        r"\bsi (?:fuera|tuviera|pudiera|viviera|ganara)\b|\b(?:es broma|bromeo|mi personaje)\b"),
    material=pattern(
        r"\b(?:traduce|corrige|resume|reescribe|mejora|analiza|revisa)\b[^.!?\n]{0,60}(?::\s*|\b(?:siguiente|este "
        r"(?:texto|correo|mensaje)|esta (?:frase|carta))\b)",
        r"\b(?:finge|imagina que|haz como|actúa como|interpreta|escribe(?:me)? (?:una?|un) (?:\w+ )?(?:historia"
        r"|poema|cuento|diálogo|canción|carta|correo))\b",
    ),
    hearsay=pattern(
        r"^(?:he (?:oído|leído|escuchado) que|dicen que|se dice|parece que|según (?!yo\b))(?!.*\b(?:mi|mis|nosotros"
        r"|nuestr[oa])\b)"),
    applause=pattern(
        r"^(?:¡?qué (?:bien|bonito|bueno|genial|guay)|eso es|es (?:genial|fantástico|estupendo|increíble)\b|tienes "
        r"razón|me alegro|estoy (?:orgullos[oa] de|feliz por) ti|gracias|felicidades|enhorabuena|"
        r"entiendo|buena (?:suerte|idea)|estoy de acuerdo)",
    ),
    remember=pattern(
        r"^(?:ok,? |oye,? |y |bueno,? )?(?:por favor,? |puedes |podrías |quiero que |debes )*(?:recuerda(?:r)?"
        r"|recuerdes|memoriza(?:r)?|ten (?:en cuenta|presente)|no (?:te )?olvides|no olvidar|"
        r"apunta(?:r)?|anota(?:r)?|toma nota|guarda(?:r)?)(?! (?:cuando|cómo|dónde)\b)(?: (?:para (?:la próxima|el "
        r"futuro)|esto))*(?:\s*[:,]\s*|\s+)(?:de que\s+|que\s+)?(?P<what>\S.+)",
    ),
    standing=pattern(
        r"^(?:por favor,? )?(?:a partir de ahora|de ahora en adelante|en el futuro|desde ahora|en adelante|de hoy "
        r"en adelante)\b",
        r"^(?:responde|respóndeme|háblame|contéstame|escríbeme|usa|llámame) (?:siempre|solo|sólo)\b|^llámame\b(?! "
        r"(?:mañana|luego|cuando|a las))|^nunca (?:uses|sugieras|respondas|me llames|recomiendes)\b",
    ),
    forget=pattern(
        r"^(?:ok,? |oye,? |y |por favor,? |puedes |podrías |quiero que |debes )*(?:olvida(?:r|te)?|olvides"
        r"|olvídate)(?! (?:lo)\b(?! que))\s+(?:de\s+)?(?:que\s+)?(?P<what>\S.+)",
        r"^(?:por favor,? |puedes |podrías )*(?:borra(?:r)?|elimina(?:r)?|quita(?:r)?)\s+(?P<what>(?:todo )?lo que (?:sabes"
        r"|recuerdas|te (?:dije|he dicho))\b.*|(?:todos )?(?:mis|tus|los) recuerdos\b.*)",
    ),
    forget_all=pattern(
        r"^(?:todo(?: lo(?: que)?)?(?: (?:que )?(?:sabes|te he dicho|te dije|recuerdas))?|lo que sabes|todos los "
        r"recuerdos)(?: (?:sobre|de|acerca de) (?:mí|nosotros))?\W*$"),
    ignore=pattern(
        r"(?:^|\b(?:por favor|pero|y) )no (?:recuerdes|memorices|guardes|registres|anotes)(?: (?:que|esto|eso|nada "
        r"de|lo que))?\s*(?P<what>(?:\w.*)?)"),
    likes=pattern(
        r"\b(?:me (?:gusta|gustan|encanta|encantan|gustaba)|amo|adoro|odio|detesto|prefier\w+|favorit[oa]s?"
        r"|preferid[oa]s?|no soporto|aficionad[oa]|siempre|suelo|normalmente|nunca|evito|"
        r"vegetarian[oa]|vegan[oa]|alérgic[oa]|uso principalmente)\b"
    ),
    negation=pattern(r"\b(?:no|nunca|jamás|sin|dejé de|he dejado|odio|detesto)\b"),
    change=pattern(
        r"\b(?:ahora|ya|no|dejé|dejado|cambié|cambiado|en realidad|mudé|mudado|de nuevo|en vez|actualmente"
        r"|recientemente)\b"),
    additive=pattern(r"\b(?:también|además|otr[oa]|segundo trabajo|a tiempo parcial|temporalmente|a veces)\b"),
    slots=(
        Slot("home", pattern(rf"{_SUBJECT}(?:vivo|resido|estoy viviendo){_ADV} en {_VALUE}",
            rf"{_SUBJECT}(?:mudé|he mudado|mudamos|hemos mudado){_ADV} (?:de .{{1,40}}? )?a {_VALUE}",
                rf"^nos (?:mudamos|hemos mudado) a {_VALUE}")),
        Slot("home", pattern(rf"{_SUBJECT}no vivo(?: más)? en {_VALUE}"), ended=True),
        Slot("employer", pattern(rf"{_SUBJECT}trabajo{_ADV} para {_VALUE}")),
        Slot("employer", pattern(rf"{_SUBJECT}trabajo{_ADV} en (?!casa\b|remoto\b){_VALUE}",
            rf"{_SUBJECT}(?:he )?(?:empecé|empezado|comencé|comenzado)(?: a trabajar| un nuevo trabajo)? en {_VALUE}"), firm=False),
        Slot("employer", pattern(rf"{_SUBJECT}no trabajo(?: más)? (?:en|para) {_VALUE}",
            r"\b(?:perdí|dejé|he dejado|he perdido) (?:mi|el) trabajo\b",
            r"\bestoy (?:desemplead[oa]|en paro|jubilad[oa])\b"), ended=True),
        Slot("job", pattern(rf"{_SUBJECT}trabajo{_ADV} (?:como|de) (?:una? )?{_VALUE}",
            rf"^(?:yo )?soy{_ADV} (?:una? )?(?P<value>(?:ingenier[oa]|enfermer[oa]|médic[oa]|doctor[a]?"
            rf"|profesor[a]?|maestr[oa]|abogad[oa]|cociner[oa]|estudiante|programador[a]?|arquitect[oa]|periodista|"
            r"diseñador[a]?|camarer[oa]|fontaner[oa]|electricista|psicólog[oa]|contador[a]?|farmacéutic[oa]))\b")),
        Slot("diet", pattern(rf"^(?:yo )?(?:ahora )?(?:soy|me (?:he )?(?:hice|hecho|volví|vuelto)){_ADV} {_DIET}",
            r"\bcomo (?:de nuevo |otra vez )?(?P<value>carne|de todo)\b",
            r"\bhe vuelto a comer (?P<value>carne)\b")),
        Slot("diet", pattern(rf"^(?:yo )?(?:ya )?no soy (?:más )?{_DIET}"), ended=True),
        Slot("avoids", pattern(rf"^(?:yo )?(?:ya )?no (?:como|bebo) {_VALUE}"), single=False),
        Slot("allergy", pattern(rf"^(?:yo )?soy (?:alérgic[oa]|intolerante) (?:al?|a la|a los|a las) {_VALUE}"),
            single=False),
        Slot("name", pattern(r"\bme llamo (?P<value>[^,.;!?(]{1,40}?)(?= y | pero |\s*[,.;!?(]|\s*$)",
            r"\bmi nombre es (?P<value>[^,.;!?(]{1,40}?)(?= y | pero |\s*[,.;!?(]|\s*$)",
            )),
        Slot("name", pattern(r"^llámame (?P<value>[^,.;!?(]{1,40}?)(?= y | pero |\s*[,.;!?(]|\s*$)"), firm=False),
        Slot("age", pattern(r"\b(?:tengo|he cumplido|cumplí)(?: ahora| ya)? (?P<value>\d{1,3}) años\b(?! de\b)")),
        Slot("birthday", pattern(rf"\bmi cumpleaños es(?: el)? {_VALUE}")),
        Slot("favourite", pattern(
            rf"\bmis? (?P<key>[\w' ]{{1,30}}?) (?:favorit|preferid)[oa]s?{_ADV} (?:es|son){_ADV} {_VALUE}")),
        Slot("phone", pattern(r"\bmi (?:número de teléfono|teléfono|número|móvil) es (?P<value>[+(]?\d[\d ()./-]+)")),
    ),
    nouns={
        "dieta": "diet", "alimentación": "diet", "comida": "diet", "casa": "home", "vivo": "home", "domicilio": "home",
            "ciudad":
            "home",
            "dirección":
            "address",
            "trabajo":
            "job",
        "profesión": "job", "empleo": "job", "nombre": "name", "edad": "age", "años": "age", "cumpleaños": "birthday",
            "teléfono":
            "phone",
            "móvil":
            "phone",
            "correo":
            "email",
        "coche": "car", "alergias": "allergy", "alergia": "allergy", "mascotas": "pet", "pareja": "partner",
    },
    dates=DateWords(
        days={"anteayer": -2, "antes de ayer": -2, "ayer": -1, "anoche": -1, "hoy": 0, "esta mañana": 0,
            "esta noche": 0,
            "esta tarde": 0,
            "pasado mañana": 2,
            "mañana": 1},
        spans={
            "la semana pasada": ("week", -1), "esta semana": ("week", 0), "la próxima semana": ("week", 1),
                "la semana que viene": (
                "week", 1),
                "el fin de semana pasado": (
                "weekend", -1),
            "el pasado fin de semana": ("weekend", -1), "este fin de semana": ("weekend", 0),
                "el próximo fin de semana": (
                "weekend", 1),
                "el mes pasado": (
                "month", -1),
                "este mes": (
                "month", 0),
            "el próximo mes": ("month", 1), "el mes que viene": ("month", 1), "el año pasado": ("year", -1),
                "este año": (
                "year", 0),
                "el próximo año": (
                "year", 1),
                "el año que viene": (
                "year", 1),
        },
        numbers={"un": 1, "una": 1, "uno": 1, "dos": 2, "un par de": 2, "tres": 3, "cuatro": 4, "cinco": 5, "seis": 6,
            "siete": 7,
            "ocho": 8,
            "nueve": 9,
            "diez": 10,
            "doce": 12,
            "quince": 15,
            "veinte": 20},
        units={"día": "day", "días": "day", "semana": "week", "semanas": "week", "mes": "month", "meses": "month",
            "año":
            "year",
            "años":
            "year"},
        ago=r"hace {n} {unit}",
        ahead=r"dentro de {n} {unit}",
        weekdays={"lunes": 0, "martes": 1, "miércoles": 2, "jueves": 3, "viernes": 4, "sábado": 5, "domingo": 6},
        named=(("(?:el )?(?:pasado {weekday}|{weekday} pasado)", "last"), ("este {weekday}", "this"), (
            "(?:el )?(?:próximo {weekday}|{weekday} (?:próximo|que viene))",
            "next")),
        months=("enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre", "octubre",
            "noviembre",
            "diciembre"),
    ),
)  # fmt: skip
