"""Korean: statements, questions and explicit requests only."""

from __future__ import annotations

from adk_memorybank.generation.lexicon.language import DateWords, Language, Slot, pattern, words

LANGUAGE = Language(
    code="ko",
    function_words=words("나는 저는 내가 제가 나의 저의 내 제 그 이 저 것 수 등 및 그리고 하지만"),
    small_talk=words("안녕 안녕하세요 감사합니다 고마워 고마워요 네 아니요 예 좋아요 알겠습니다 괜찮아요 죄송합니다 미안해요 축하해요 정말"),
    first_person=pattern(r"(?:^|\s)(?:나는|난|저는|전|내가|제가|나의|저의|내|제|우리(?:는|가)?|저희)(?=\s)",
        r"(?:[가-힣]요|[가-힣]다)[.!]?$"),
    question=pattern(r"^(?:무엇|뭐|누구|어디|언제|왜|어떻게|얼마|몇)", r"(?:까|나요|인가요|니|을까요)$"),
    request=pattern(r"(?:해 ?줘|해 ?주세요|알려 ?줘|알려 ?주세요|부탁(?:해|합니다|드려요))[.!]?$"),
    unreal=pattern(r"^(?:만약|만일|가정하자)"),
    remember=pattern(r"^(?P<what>.+?)(?:는|다는|라는)? ?(?:것을|걸|거)? ?(?:꼭 )?(?:기억해|잊지 ?마)",
        r"^(?:기억해(?: ?줘| ?주세요)?|잊지 ?마(?:세요)?)[,:\s]+(?P<what>.+)"),
    standing=pattern(r"^(?:앞으로|이제부터|지금부터)"),
    forget=pattern(r"^(?P<what>.+?)(?:에 대한 것|에 대해(?: 말한 것)?|는 것|다는 것)?(?:을|를|은|는)? 잊어"),
    forget_all=pattern(r"^(?:(?:나|저)에 대한 )?(?:모든 것|전부|모두|다|모든 기억)$"),
    likes=pattern(r"좋아|싫어|선호|사랑|즐겨|항상|보통|채식|알레르기"),
    negation=pattern(r"(?:^|\s)(?:안|못)\s|않|없|싫어"),
    change=pattern(r"이제|더 이상|지금은|바꿨|이사|사실"),
    slots=(
        Slot("home", pattern(r"(?:나는|저는|난|전)?\s*(?:지금 |현재 |이제 )?(?P<value>\S+)에(?:서)? (?:살|거주)",
            r"(?P<value>\S+)(?:으로|로) 이사")),
        Slot("name", pattern(r"(?:제|내) 이름은 (?P<value>\S+?)(?:이에요|예요|입니다|이야|야)")),
        Slot("age", pattern(r"(?P<value>\d{1,3})(?:살|세)(?:이에요|예요|입니다|이야)")),
    ),
    nouns={"식단": "diet", "집": "home", "주소": "address", "직업": "job", "이름": "name", "나이": "age", "생일": "birthday", "전화번호":
        "phone"},
    dates=DateWords(
        days={"그저께": -2, "어제": -1, "오늘": 0, "모레": 2, "내일": 1},
        spans={"지난주": ("week", -1), "지난 주": ("week", -1), "이번 주": ("week", 0), "다음 주": ("week", 1), "지난달": ("month",
            -1), "다음 달": ("month", 1),
            "작년": (
            "year", -1),
            "올해": (
            "year", 0),
            "내년": (
            "year", 1)},
        numbers={"한": 1, "두": 2, "세": 3, "네": 4},
        units={"일": "day", "주": "week", "달": "month", "개월": "month", "년": "year"},
        ago=r"{n} ?{unit} 전",
        ahead=r"{n} ?{unit} 후",
        weekdays={"월요일": 0, "화요일": 1, "수요일": 2, "목요일": 3, "금요일": 4, "토요일": 5, "일요일": 6},
        named=(("지난 ?주? {weekday}", "last"), ("이번 ?주? {weekday}", "this"), ("다음 ?주? {weekday}", "next")),
    ),
)  # fmt: skip
