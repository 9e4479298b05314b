"""Portuguese."""

from __future__ import annotations

from adk_memorybank.generation.lexicon.language import DateWords, Language, Slot, pattern, words

_SUBJECT = r"^(?:eu )?(?:agora |hoje |atualmente |já |me )*"
_ADV = r"(?: (?:agora|atualmente|já|ainda|também|hoje|recentemente|de novo))*"
_END = r"(?=\s+(?:e|mas|porque|com|desde|onde|que|enquanto|agora|também|junto)\b|\s*[,;.!?(]|\s+[-–—]\s|\s*$)"
_VALUE = rf"(?P<value>\S.{{0,60}}?){_END}"
_DIET = r"(?P<value>vegetarian[ao]|vegan[ao]|onívor[ao]|pescetarian[ao]|celíac[ao])\b"

LANGUAGE = Language(
    code="pt",
    function_words=words(
        "o a os as um uma uns umas de do da dos das em no na nos nas ao à com por para pelo pela e ou mas que quem "
        "não me te se nos "
        "meu minha meus minhas teu tua seu sua eu tu você ele ela nós eles sou é és somos são estou está tenho tem "
        "foi era fui muito "
        "como quando onde porque este esta esse essa isso isto mais há lhe num numa foi ser"
    ),
    soft_words=words(
        "muito mesmo realmente só também sempre principalmente sobretudo agora ainda já mais atualmente hoje ontem "
        "amanhã novo "
        "bastante chamo chama"
    ),
    same_words={"adoro": "gosto", "amo": "gosto", "odeio": "gosto", "detesto": "gosto", "vivo": "moro", "resido":
        "moro"},
    openers=pattern(
        r"(?:olá(?: [A-Z]\w+)?|oi(?: [A-Z]\w+)?|bom dia|boa (?:tarde|noite)|ei|bem|então|pois|ok|claro|sim|não"
        r"|obrigad[oa]|muito obrigad[oa]|ah|oh|uau|perfeito|ótimo|aliás)\s*(?:[,!.:—–]|\.\.\.|…)+\s*"
    ),
    small_talk=words(
        "olá oi bom dia boa tarde noite tchau adeus obrigado obrigada muito de nada ok claro perfeito ótimo legal "
        "sim não até logo breve "
        "amanhã desculpa desculpe entendi que bom parabéns tudo bem incrível fantástico sorte"
    ),
    first_person=pattern(
        r"\b(?:eu|me|mim|meu|minha|meus|minhas|nós|nos|noss[oa]s?|comigo|sou|estou|tenho|estamos|somos|temos|quero"
        r"|gostaria)\b",
        r"\b(?:moro|vivo|trabalho|amo|odeio|adoro|gosto|prefiro|como|bebo|faço|vou|uso|estudo|jogo|falo|penso|acho"
        r"|devo|posso|compro|dirijo|conduzo|leio|escrevo|viajo|corro|toco|procuro|"
        r"fui|fiz|tive|estive|disse|vim|pude|costumo|sofro|evito|detesto|conheço|sigo|preciso|ia|era|tinha|vamos)\b",
        r"\b\w{2,}(?:ei|arei|erei|irei|amos|emos|imos|ámos)\b",
    ),
    question=pattern(
        r"^(?:o que|que horas|quem|onde fica|onde está|quando é|por que|porque é que|como (?:é|está|faço|se|posso"
        r"|vai)|qual|quais|quant[oa]s?)\b",
            r"^(?:você |me )?(?:sabe|sabes|pode|podes|poderia|conhece|conheces|tem|tens|quer) ",
        r"^(?:eu )?(?:queria|quero|gostaria de) saber\b",
    ),
    request=pattern(
        r"^(?:por favor|pode|podes|poderia|me (?:diga|dê|mostre|ajude|ajuda|explique)|diga-me|diz-me|dê-me|dá-me"
        r"|mostre|mostra-me|escreva|escreve|ajude-me|ajuda-me|explique|explica-me|traduza|traduz|procure|procura"
        r"|encontre|"
        r"reserve|calcule|resuma|corrija|liste|recomende|sugira|crie|gere|fale-me|descreva|vamos|quero que|preciso "
        r"(?:de (?:ajuda|sua ajuda)|que)|lembre-me|me lembre de|lembra-me)\b",
    ),
    unreal=pattern(r"^(?:se|imagine|imagina|imaginemos|suponha|suponhamos|finja|digamos|oxalá|tomara)\b",
        r"\bse eu (?:fosse|tivesse|pudesse|morasse|ganhasse)\b|\b(?:é brincadeira|estou brincando|meu personagem)\b"),
    material=pattern(
        r"\b(?:traduza|traduz|corrija|corrige|resuma|resume|reescreva|melhore|analise"
        r"|revise)\b[^.!?\n]{0,60}(?::\s*|\b(?:seguinte|este (?:texto|e-mail|email)|esta (?:frase|carta"
        r"|mensagem))\b)",
        r"\b(?:finja|imagine que|faça de conta|aja como|escreva(?:-me)? uma? (?:\w+ )?(?:história|poema|conto"
        r"|diálogo|canção|carta|e-mail|email))\b",
    ),
    hearsay=pattern(
        r"^(?:(?:eu )?(?:ouvi|li)(?: dizer)? que|dizem que|diz-se|parece que|segundo )(?!.*\b(?:meu|minha|meus"
        r"|minhas|nós|noss[oa])\b)"),
    applause=pattern(
        r"^(?:que (?:bom|legal|ótimo|bonito|fixe)|isso é|é (?:ótimo|fantástico|incrível|legal)\b|você (?:tem razão"
        r"|está)|tens razão|fico feliz (?:por|que)|estou (?:orgulhos[oa] de|feliz por) (?:ti|você)|obrigad|parabéns"
        r"|entendo\b|"
        r"boa (?:sorte|ideia)|concordo\b)",
    ),
    remember=pattern(
        r"^(?:ok,? |ei,? |e |então,? )?(?:por favor,? |pode |podes |poderia |quero que |deve )*(?:lembre-se"
        r"|lembra-te|lembre|lembrar|se lembrar|se lembre|memorize|memoriza|tenha em (?:mente|conta)|tem em (?:mente"
        r"|conta)|não (?:se )?esqueça|não te esqueças|"
        r"anote|anota|tome nota|guarde|guarda|saiba)(?! (?:quando|como|onde)\b)(?: (?:para (?:a próxima|o futuro)"
        r"|isto|isso))*(?:\s*[:,]\s*|\s+)(?:de que\s+|que\s+|de\s+)?(?P<what>\S.+)",
    ),
    standing=pattern(
        r"^(?:por favor,? )?(?:a partir de agora|de agora em diante|daqui em diante|daqui para a frente|no futuro"
        r"|doravante|de hoje em diante)\b",
        r"^(?:responda|responde|responda-me|fale comigo|escreva-me|use) (?:sempre|só|apenas)\b|^(?:me chame|me "
        r"chama|chame-me|chama-me)\b(?! (?:amanhã|depois|quando|às))|^nunca (?:use|sugira|responda|me chame"
        r"|recomende)\b",
    ),
    forget=pattern(
        r"^(?:ok,? |ei,? |e |por favor,? |pode |podes |poderia |quero que |deve )*(?:esqueça|esquece|esquecer"
        r"|esqueças)(?!-| (?:isso|isto)\W*$)\s+(?:de\s+)?(?:que\s+)?(?P<what>\S.+)",
        r"^(?:por favor,? |pode |podes |poderia )*(?:apague|apaga|apagar|elimine|elimina|eliminar|exclua|excluir"
        r"|remova|remover|delete)\s+(?P<what>(?:tudo )?o que (?:você |tu |eu )?(?:sabe|sabes|lembra"
        r"|(?:te )?disse)\b.*|(?:todas )?(?:as )?(?:minhas |suas |tuas )?memórias\b.*)",
    ),
    forget_all=pattern(
        r"^(?:tudo(?: o)?(?: que)?(?: (?:você )?(?:sabe|sabes|eu (?:te )?disse|lembra))?|o que (?:você )?sabes?"
        r"|todas as memórias)(?: (?:sobre|de) (?:mim|nós))?\W*$"),
    ignore=pattern(
        r"(?:^|\b(?:por favor|mas|e) )não (?:lembre|memorize|guarde|guardes|registre|registe|anote|salve)(?: (?:que"
        r"|isto|isso|nada (?:de|sobre)|o que))?\s*(?P<what>(?:\w.*)?)"),
    likes=pattern(
        r"\b(?:gosto|gostava|adoro|amo|odeio|detesto|prefir\w+|prefere\w*|favorit[oa]s?|preferid[oa]s?|não suporto|apaixonad[oa]"
        r"|sempre|costumo|normalmente|nunca|evito|vegetarian[oa]|vegan[oa]|alérgic[oa]|uso principalmente)\b"
    ),
    negation=pattern(r"\b(?:não|nunca|jamais|sem|parei de|deixei de|odeio|detesto)\b"),
    change=pattern(
        r"\b(?:agora|já|não|parei|deixei|mudei|mudámos|mudamos|na verdade|de novo|em vez|atualmente|recentemente"
        r"|mais)\b"),
    additive=pattern(
        r"\b(?:também|além disso|outr[oa]|segundo emprego|meio período|part[- ]time|temporariamente|às vezes)\b"),
    slots=(
        Slot("home", pattern(
            rf"{_SUBJECT}(?:moro|vivo|resido|estou (?:morando|a viver|a morar)){_ADV} (?:em|no|na|nos|nas) "
            rf"{_VALUE}",
            rf"{_SUBJECT}(?:mudei|mudei-me|nos mudamos|mudámo-nos){_ADV} (?:de .{{1,40}}? )?(?:para|pra) (?:o |a "
            rf")?{_VALUE}")),
        Slot("home", pattern(rf"{_SUBJECT}não (?:moro|vivo) mais (?:em|no|na) {_VALUE}",
            rf"^(?:eu )?já não (?:moro|vivo) (?:em|no|na) {_VALUE}"), ended=True),
        Slot("employer", pattern(rf"{_SUBJECT}trabalho{_ADV} (?:para|pra) (?:o |a )?{_VALUE}")),
        Slot("employer", pattern(rf"{_SUBJECT}trabalho{_ADV} (?:em|no|na) (?:o |a )?(?!casa\b){_VALUE}",
            rf"{_SUBJECT}comecei(?: a trabalhar| um novo emprego)? (?:em|no|na) {_VALUE}"), firm=False),
        Slot("employer", pattern(rf"{_SUBJECT}não trabalho mais (?:em|no|na|para) {_VALUE}",
            rf"^(?:eu )?já não trabalho (?:em|no|na|para) {_VALUE}",
            r"\b(?:perdi|deixei|larguei) (?:o )?(?:meu )?(?:emprego|trabalho)\b",
            r"\bestou (?:desempregad[oa]|aposentad[oa]|reformad[oa])\b"), ended=True),
        Slot("job", pattern(rf"{_SUBJECT}trabalho{_ADV} como (?:uma? )?{_VALUE}",
            rf"^(?:eu )?(?:agora )?sou{_ADV} (?:uma? )?(?P<value>(?:engenheir[oa]|enfermeir[oa]|médic[oa]"
            rf"|professor[a]?|advogad[oa]|cozinheir[oa]|estudante|programador[a]?|arquitet[oa]|"
            r"jornalista|designer|garçom|garçonete|encanador[a]?|eletricista|psicólog[oa]|contador[a]?"
            r"|farmacêutic[oa]|padeir[oa]))\b")),
        Slot("diet", pattern(rf"^(?:eu )?(?:agora )?(?:sou|me tornei|virei|tornei-me){_ADV} {_DIET}",
            r"\b(?:voltei a comer|como)(?: de novo)? (?P<value>carne|de tudo)\b")),
        Slot("diet", pattern(rf"^(?:eu )?(?:já )?não sou (?:mais )?{_DIET}"), ended=True),
        Slot("avoids", pattern(rf"^(?:eu )?(?:já )?não (?:como|bebo)(?: mais)? {_VALUE}"), single=False),
        Slot("allergy", pattern(rf"^(?:eu )?sou (?:alérgic[oa]|intolerante) (?:ao?|à|aos|às) {_VALUE}"), single=False),
        Slot("name", pattern(r"\b(?:me chamo|chamo-me) (?P<value>[^,.;!?(]{1,40}?)(?= e | mas |\s*[,.;!?(]|\s*$)",
            r"\bmeu nome é (?P<value>[^,.;!?(]{1,40}?)(?= e | mas |\s*[,.;!?(]|\s*$)",
            )),
        Slot("name", pattern(r"^(?:me chame|me chama|chame-me|chama-me)(?: de)? (?P<value>[^,.;!?(]{1,40}?)(?= e | mas |\s*[,.;!?(]"
            r"|\s*$)"), firm=False),
        Slot("age", pattern(r"\b(?:tenho|fiz|completei)(?: agora| já)? (?P<value>\d{1,3}) anos\b(?! de\b)")),
        Slot("birthday", pattern(rf"\bmeu aniversário é(?: em| no dia)? {_VALUE}")),
        Slot("favourite", pattern(
            rf"\b(?:meus?|minhas?) (?P<key>[\w' ]{{1,30}}?) (?:favorit|preferid)[oa]s?{_ADV} (?:é|são){_ADV} "
            rf"{_VALUE}")),
        Slot("phone", pattern(
            r"\bmeu (?:número(?: de telefone)?|telefone|celular|telemóvel) é (?P<value>[+(]?\d[\d ()./-]+)")),
    ),
    nouns={
        "dieta": "diet", "alimentação": "diet", "comida": "diet", "casa": "home", "moro": "home", "vivo": "home",
        "residência": "home", "cidade": "home", "endereço": "address",
            "morada":
            "address",
            "trabalho":
            "job",
            "emprego":
            "job",
        "profissão": "job", "nome": "name", "idade": "age", "anos": "age", "aniversário": "birthday",
        "telefone": "phone", "celular": "phone", "email": "email", "carro": "car",
            "alergias":
            "allergy",
            "alergia":
            "allergy",
            "pets":
            "pet",
    },
    dates=DateWords(
        days={"anteontem": -2, "ontem": -1, "ontem à noite": -1, "hoje": 0, "esta manhã": 0, "esta noite": 0,
            "depois de amanhã": 2,
            "amanhã": 1},
        spans={
            "a semana passada": ("week", -1), "na semana passada": ("week", -1), "semana passada": ("week", -1),
            "esta semana": ("week", 0),
                "na próxima semana": (
                "week", 1),
                "próxima semana": (
                "week", 1),
                "semana que vem": (
                "week", 1),
            "fim de semana passado": ("weekend", -1), "este fim de semana": ("weekend", 0),
            "próximo fim de semana": ("weekend", 1), "mês passado": ("month", -1),
                "este mês": (
                "month", 0),
                "próximo mês": (
                "month", 1),
                "mês que vem": (
                "month", 1),
            "ano passado": ("year", -1), "este ano": ("year", 0), "próximo ano": ("year", 1), "ano que vem": ("year",
            1),
        },
        numbers={"um": 1, "uma": 1, "dois": 2, "duas": 2, "três": 3, "quatro": 4, "cinco": 5, "seis": 6, "sete": 7,
            "oito": 8,
            "nove": 9,
            "dez": 10,
            "doze": 12,
            "quinze": 15,
            "vinte": 20},
        units={"dia": "day", "dias": "day", "semana": "week", "semanas": "week", "mês": "month", "meses": "month",
            "ano":
            "year",
            "anos":
            "year"},
        ago=r"há {n} {unit}|{n} {unit} atrás",
        ahead=r"daqui a {n} {unit}|dentro de {n} {unit}",
        weekdays={"segunda-feira": 0, "segunda": 0, "terça-feira": 1, "terça": 1, "quarta-feira": 2, "quarta": 2,
            "quinta-feira": 3,
            "quinta": 3,
            "sexta-feira": 4,
            "sexta": 4,
            "sábado": 5,
            "domingo": 6},
        named=(("(?:passad[oa] {weekday}|{weekday} passad[oa])", "last"), ("(?:esta|este|nesta|neste) {weekday}",
            "this"), (
            "(?:próxim[oa] {weekday}|{weekday} que vem)",
            "next")),
        months=("janeiro", "fevereiro", "março", "abril", "maio", "junho", "julho", "agosto", "setembro", "outubro",
            "novembro",
            "dezembro"),
    ),
)  # fmt: skip
