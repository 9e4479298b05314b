"""English."""

from __future__ import annotations

from adk_memorybank.generation.lexicon.language import DateWords, Language, Slot, pattern, words

# A slot's statement has its subject rewritten to "i" (attributes.py), so the patterns take both verb forms.
_ADV = r"(?:(?:now|currently|still|just|also|already|actually|recently|mainly|mostly|presently|always|really) )*"
_BE = r"(?:'m|’m|'s|’s| am| is| was| were|'ve been| have been| has been)"
_HAVE = r"(?:'ve |’ve |'s | have | has | )"
_END = (
    r"(?=\s+(?:and|but|because|since|with|so|when|where|which|who|while|if|now|again|anymore|any more|currently|these"
    r"|at the moment|last|yesterday|today|this|(?:an?|one|two|three|four|five|six|\d+|several|some) (?:few "
    r")?(?:days?|weeks?|months?|years?)|for (?:a|the|\d|two|three|many|over|about)|as of|after|until|these days"
    r"|lately|instead|too|as well)\b"
    r"|\s*[,;.!?()—–]|\s+-\s|\s*$)"
)
_VALUE = rf"(?P<value>\S.{{0,60}}?){_END}"
_ROLE = (
    r"(?P<value>(?:[\w-]+ ){0,3}(?:engineer|developer|nurse|doctor|teacher|lawyer|chef|cook|writer|designer|manager"
    r"|student|programmer|scientist|researcher|professor|architect|accountant|analyst|artist|musician|photographer"
    r"|journalist|editor|consultant|driver|pilot|plumber|electrician|carpenter|farmer|baker|barista|waiter|waitress"
    r"|therapist|psychologist|dentist|pharmacist|vet|veterinarian|paramedic|firefighter|soldier|banker|broker"
    r"|salesman|saleswoman|secretary|librarian|translator|interpreter|freelancer|founder|ceo|cto|director|mechanic"
    r"|technician|surgeon|midwife|tailor|hairdresser|actor|actress|singer|dancer|coach|trainer|social worker"
    r"|entrepreneur|retiree|counselor|counsellor|biologist|chemist|physicist|economist|judge|cashier|clerk))\b"
)
_OF_ME = r"(?: (?:about|of|on) (?:me|us|myself))?"
_KINDLY = r"(?:,? (?:please|pls|now|right now|ok(?:ay)?|thanks|thank you|at once|immediately|for me))*"
_DIET = (
    r"(?P<value>vegetarian|vegan|pescatarian|pescetarian|omnivore|flexitarian|carnivore|gluten[- ]free|kosher|halal"
    r"|keto|plant[- ]based|lactose[- ]free|dairy[- ]free)\b"
)

LANGUAGE = Language(
    code="en",
    function_words=words(
        "a an the this that these those i me my mine myself we us our ours you your yours he him his she her hers "
        "it its "
        "they them their theirs am is are was were be been being do does did done have has had having will would shall "
        "should can could may might must of in on at to from for with by about as into onto over under than then "
        "and or "
        "but so if because while when where what which who whom whose how why there here not no nor i'm i've i'll i'd "
        "it's that's don't doesn't didn't isn't wasn't aren't can't won't up out off s m ve ll d re t user said"
    ),
    soft_words=words(
        "really very quite just also too so mainly mostly usually always often actually basically generally currently "
        "now still already pretty totally definitely honestly truly simply lot lots bit much more most some any ever "
        "anymore longer again new recently lately nowadays today yesterday tomorrow please well absolutely especially "
        "kind sort super mostly primarily yes yeah oh called named name's"
    ),
    same_words={
        "love": "like", "enjoy": "like", "adore": "like", "fond": "like", "fan": "like", "dislike": "like",
        "hate": "like", "detest": "like", "loathe": "like", "stand": "like", "reside": "live", "color": "colour",
        "favorite": "favourite", "mum": "mother", "mom": "mother", "dad": "father", "hike": "hiking",
    },
    openers=pattern(
        r"(?:(?:hey|hi|hello|hiya|yo)(?: there| again)?(?: [A-Z][\w'’-]+)?|good (?:morning|afternoon|evening)|wow"
        r"|oh|ah|aw+"
        r"|haha|lol|yeah|yep|yes|no|nope|sure(?: thing)?|ok(?:ay)?|well|anyway|btw|by the way|so|also|right|true"
        r"|exactly"
        r"|absolutely|definitely|totally|thanks(?: (?:a lot|so much|a ton|again))?(?:,? [A-Z][\w'’-]+)?|thank you"
        r"(?: so much)?(?:,? [A-Z][\w'’-]+)?|cool|nice|great|awesome|sounds good|honestly|hmm+|um+|uh+|fyi"
        r"|i (?:totally |completely |really )?(?:agree|see|understand|know))"
        r"\s*(?:[,!.:—–]|\.\.\.|…| - )+\s*"
    ),
    small_talk=words(
        "hey hi hello hiya bye goodbye goodnight thanks thank thx ty cheers please sorry wow yay ok okay yeah yep "
        "yes no "
        "nope sure cool nice great awesome amazing fantastic wonderful lovely perfect excellent brilliant good morning "
        "afternoon evening night day night luck fun glad happy hear congrats congratulations absolutely definitely "
        "totally exactly right true agreed indeed see talk soon later later take care welcome haha lol hehe much "
        "lot ton "
        "again appreciate support help kind words means keep going work job way go sounds got get gotcha fine well "
        "let's "
        "can't wait everyone all guys buddy friend dude man bro really very so always here proud rooting believe crush "
        "best wishes hope lucky incredible inspiring impressive beautiful gorgeous stunning encouragement advice no "
        "problem worries mind never forget it that this"
    ),
    first_person=pattern(
        r"\b(?:i|i'm|i’m|i've|i’ve|i'll|i’ll|i'd|i’d|im|ive|my|me|mine|myself|we|we're|we’re|we've|our|ours|us)\b",
        r"^(?:gonna|been|went|got|lost|had|just|finally|still|started|moved|bought|working|planning|looking forward"
        r"|can't"
        r" wait|trying|thinking|took|made|visited|met|saw|attended|decided|promised|booked|committed|committing|signed|"
        r"joined|finished|learned|hoping|wanna|love|loving|hate|enjoying|feeling|switch(?:ed|ing)|will|want)\b",
    ),
    question=pattern(
        r"^(?:and |but |so |or )?(?:what|who|whom|whose|where|why|how|which|when)(?:'s|’s|'re|'d|'ve)? (?:is|are|do"
        r"|did|does|was"
        r"|were|can|could|should|would|will|have|has|had|about|come|many|much|long|often|far|else|kind|sort|time|day"
        r"|got|made|made|happened|brings?|inspired|the|a|an|your|you|next|now|to)\b(?! i (?:was|am|like|love|need))",
        r"^(?:what|who|where|why|how|when)(?:'s|’s|'re|'d|'ve)\b",
        r"^(?:and |but |so )?(?:which|what|whose|how) \w+ (?:should|shall|do|can|would|is|are|could|will|did|does|has|have)\b",
        r"^(?:what|why|how|who|where|when)\W*$",
        r"^(?:and |but |so |or )?(?:do|did|does|are|is|was|were|can|could|would|will|should|shall|have|has|had|may"
        r"|might"
        r"|isn't|aren't|don't|didn't|doesn't|won't|can't|couldn't|wouldn't|haven't) (?:you|i|we|he|she|they|it"
        r"|there|this"
        r"|that|the|my|your|any|anyone|anybody|someone|these|those|a|an)\b(?! wait)",
        r"^(?:any (?:tips|advice|ideas?|plans|suggestions|news|chance|luck|recommendations?|thoughts)|got any|anything"
        r" (?:else|new)|ever (?:tried|been|thought)|need (?:any )?help|wanna|want to (?:see|come|join|hear|know)"
        r"|tell me"
        r"|mind if|what about|how about)\b",
        r"^(?:i (?:was |am |'m )?wonder(?:ing)?|i(?:'d| would) (?:like|love) to know|i want to know|i need to know)\b",
    ),
    request=pattern(
        r"^(?:please|pls|kindly)\b",
        r"^(?:can|could|would|will) you\b",
        r"^(?:tell|show|give|write|make me|help|find|search|look up|translate|explain|describe|summari[sz]e|list"
        r"|create|"
        r"generate|draft|compare|calculate|compute|convert|recommend|suggest|book|order|play|open|send|read|check|fix|"
        r"correct|rewrite|proofread|improve|solve|answer|let me|let's|lets|let’s|add|remove|delete|set|turn|stop|go"
        r"|keep|"
        r"try|use|don't|do not|take|be|stay|enjoy|have|feel|come|call|imagine|listen|wait|look|see|remind|cancel"
        r"|schedule|"
        r"define|name|pick|choose|repeat|continue|act|pretend|run|print|debug|refactor|implement|sum up|walk me|guide|"
        r"teach|say|think|consider|forget|note)\b(?!(?: (?:you|your|a lot|it))? i\b)",
        r"^i(?:'d| would)? (?:just )?(?:need|want|like|love) (?:you to|your (?:help|advice|opinion)|help|a hand|some"
        r" (?:help|advice|information|info|tips|ideas|suggestions)|an? (?:answer|example|explanation|summary|list"
        r"|poem))\b",
        r"^i(?:'m| am) (?:just )?(?:asking|curious)\b",
        r"^(?:what|how) about\b",
    ),
    unreal=pattern(
        r"^(?:if|unless|imagine|suppose|supposing|assuming|say|let's say|let’s say|what if|pretend|hypothetically)\b",
        r"\b(?:if (?:i|we) (?:was|were|had|could|won|lived)|i wish i|in (?:my|the|this) (?:story|novel|game|dream"
        r"|movie)"
        r"|my character|hypothetical(?:ly)?|in a parallel|for the sake of argument|just kidding|i'm joking"
        r"|role-?play)\b",
        r"\b(?:i|we|i'd|we'd)(?: would|'d)? (?:have|be|buy|go|live|do|move|travel|choose) .{0,60}\bif (?:i|we|it"
        r"|they)\b",
    ),
    material=pattern(
        r"\b(?:translate|proofread|summari[sz]e|rewrite|rephrase|paraphrase|correct|edit|review|analy[sz]e|improve"
        r"|polish|"
        r"shorten|check the (?:grammar|spelling)|fix the (?:grammar|spelling)|what (?:does|is the meaning of))\b"
        r"[^.!?\n]{0,80}(?::\s*|\b(?:following|this (?:text|email|e-mail|letter|paragraph|sentence|message|essay"
        r"|article)|"
        r"the text below|below)\b)",
        r"\b(?:role-?play|pretend (?:that |to be |you|i)|imagine (?:that |you|i)|act as|you are now|you play"
        r"|i(?:'ll| will)"
        r" (?:play|be the)|let's play|write (?:me )?an? (?:\w+ ){0,3}(?:story|poem|dialogue|novel|song|script|scene"
        r"|letter|email|cover letter|speech))\b",
    ),
    hearsay=pattern(
        r"^(?:i(?:'ve| have)? (?:just )?(?:heard|read (?:somewhere|online|that|in the (?:news|paper)))|they say"
        r"|people say|some (?:people )?say"
        r"|everyone says|rumou?r has|apparently|according to|it is said|it's said|reportedly|supposedly|i saw (?:on"
        r"|in) the)\b"
        r"(?!.*\b(?:my|me|our|we)\b)",
    ),
    applause=pattern(
        r"^(?:that(?:'s|’s| is| was| sounds| looks| must)(?! (?:my|our|when|where|why|because|who)\b)|thats|this (?:is|looks|sounds) (?:so |really |such |very "
        r")?(?:an? )?(?:great|awesome|"
        r"amazing|cool|nice|good|beautiful|inspiring)|it(?:'s|’s| is) (?:so |really |very |such |always )?(?:an? )?"
        r"(?:great|awesome|amazing|cool|nice|good|wonderful|important|lovely|inspiring|incredible|ok|okay|fine)(?!.*\b(?:to|for) me\b)"
        r"|sounds|looks|so (?:glad|happy|proud|"
        r"cool|nice|great|excited) (?:for|that|to|you)|(?:i'm|i’m|i am) (?:so |really |always |very )*(?:glad|happy"
        r"|proud|sorry|here|"
        r"rooting|sure|stoked|thrilled|excited) (?:for (?:you|it)|of you|to (?:hear|help|see (?:you|your|that|how|it))|you|that you|it|your)"
        r"|i (?:totally |completely |really )?(?:agree|"
        r"understand|see|get it|hear you|believe in you|bet|appreciate|feel you|guess so|think so|don't "
        r"think so)\b(?: what)?(?: you| it| your|[,.!]|$)|glad (?:to|you|it|that)|"
        r"good (?:luck|for|job|to)|great (?:job|to|work|idea|pic)|nice (?:job|to|work|one)|way to go|keep |can't "
        r"wait to (?:see|hear) (?:your|it|you|how|what)|congrat|"
        r"thanks? (?:for|so|you|a)|let me know|see you|talk to you|take care|have (?:a|fun)|love (?:that|it|your"
        r"|you|the)|what an? |how (?:\w+)!|"
        r"no (?:worries|problem)|(?:i'm|i’m|i am|we're) (?:always |just |all )*here\b|i(?:'ll| will|’ll) "
        r"(?:definitely |surely |totally |just |have to )*(?:check (?:it|that|them|this|those|'em) out|"
        r"do my best|keep (?:you posted|that in mind|it up|doing|at it|going)|let you know|think about (?:it"
        r"|that)|see you|be there)|i know (?:how|that|it|you|what|right)|i understand how|lov(?:e|ing) "
        r"(?:seeing|hearing|how|your|the)|glad we|got (?:it|ya)|"
        r"(?:something|so much|a lot)(?: \w+)? (?:has )?happened|you(?:'re|’re|'ve| are| have|'ll| will| can| "
        r"should| look| did| made| got)|your )",
    ),
    remember=pattern(
        r"^(?:ok(?:ay)?,? |hey,? |and |also,? |so,? |but )?(?:please,? |pls |can you |could you |would you |will "
        r"you |i(?:'d| would) like you to |i"
        r" (?:want|need) you to |you (?:should|must|can) |make sure (?:you |to )|always |just )*(?:please "
        r")?(?:remember|memori[sz]e|"
        r"don't (?:ever )?forget|don’t forget|do not forget|never forget|keep in mind|bear in mind|take note|note "
        r"down|note|make a note|save|store|"
        r"write down|jot down|for the record|for future reference|for your information|fyi)(?! (?:me\b|when\b|how\b"
        r"|who\b|where\b|what\b|why\b|the (?:file|document|image)|file\b))"
        r"(?:(?: (?:for (?:me|later|the future|next time)|to (?:your )?memory|this|the following|the fact|of this"
        r"|of the fact))*)"
        r"(?:\s*[:,—–-]\s*|\s+)(?:that\s+|to\s+)?(?P<what>\S.+)",
    ),
    standing=pattern(
        r"^(?:please,? )?(?:from now on|going forward|in (?:the )?future|from here on|henceforth|starting (?:now"
        r"|today))\b(?!.*\?)",
        r"^(?:please,? )?(?:always|never) (?:answer|reply|respond|use|call|write|speak|give|suggest|recommend"
        r"|include|add|ask|"
        r"start|end|show|mention|say|address|send|explain|keep|talk)\b",
        r"^(?:please,? )?(?:call|address) me\b(?! (?:back|tomorrow|later|when|at|on|if|tonight))",
    ),
    forget=pattern(
        r"^(?:ok(?:ay)?,? |hey,? |and |also,? |so,? |actually,? |no,? )?(?:please,? |pls |can you |could you |would "
        r"you |i(?:'d| would) like you to |i (?:want|need) you to |you (?:can|should|may|must) |just )*"
        r"(?:please )?(?:forget)(?! (?:me not|it\b|that\W*$|about (?:it|that)\W*$))\s+(?:about\s+)?(?:that\s+|the "
        r"fact that\s+)?(?P<what>\S.+)",
        r"^(?:please,? |can you |could you |i (?:want|need) you to |you (?:can|should) |just )*(?:delete|erase"
        r"|remove|wipe|clear|drop|discard)\s+"
        r"(?P<what>\S.*?)\s*(?:from your (?:memory|memories)|that you (?:know|remember)(?: about me)?"
        r"|that you (?:have |have stored |stored |saved )about me)\b",
        r"^(?:please,? |can you |could you |i (?:want|need) you to |you (?:can|should) |just )*(?:delete|erase"
        r"|remove|wipe|clear|drop|discard)\s+"
        r"(?P<what>(?:what|everything|all|anything) (?:that )?(?:(?:you (?:know|remember)"
        r"|i(?:'ve| have)? (?:ever )?told you)\b.*|(?:you have )?(?:(?:stored|saved) )?(?:about|on) (?:me|us)\W*$)"
        r"|(?:all )?(?:of )?(?:your|my|the) memories(?: (?:of|about) .+)?\W*$|all memories(?: (?:of|about) .+)?\W*$"
        r"|your memory(?: (?:of|about) .+)?\W*$)",
        r"^(?:i(?:'d| would) (?:like|prefer|rather) (?:that )?you (?:to )?forget)\s+(?:that\s+"
        r"|about\s+)?(?P<what>\S.+)",
    ),
    forget_all=pattern(
        rf"^(?:about )?(?:everything|all of it|all|anything)(?: (?:that )?(?:you (?:know|remember|have (?:stored|saved)"
        rf"|have|stored|saved)|i(?:'ve| have)? (?:ever )?(?:told you|said(?: to you)?)))?{_OF_ME}{_KINDLY}\W*$",
        rf"^(?:all )?(?:of )?(?:(?:your|the|my) )?memories(?: (?:that )?you have)?{_OF_ME}{_KINDLY}\W*$",
        rf"^(?:all )?(?:of )?(?:your|my) memory{_OF_ME}{_KINDLY}\W*$",
        rf"^all (?:of )?(?:the |your |my )?(?:information|info|data|facts)(?: (?:that )?you have)?{_OF_ME}{_KINDLY}\W*$",
        rf"^what you know about (?:me|us){_KINDLY}\W*$",
    ),
    ignore=pattern(
        r"(?:^|\b(?:please|but|and|so) )(?:please )?(?:don't|don’t|do not|never) (?:you )?(?:(?:remember"
        r"|memori[sz]e)\b(?: (?:anything about|any of|the fact that|the fact|that|this|it|these))?"
        # Other things are saved, kept and noted too: only what was said, or what is the user's, is meant.
        r"|(?:save|store|record|note)\b(?: (?:anything about|any of|the fact that|the fact|that|this|it|these)\b|(?= (?:what i|my) )|\W*$))"
        r"(?: ?:)?\s*(?P<what>(?:\w.*)?)",
        r"\b(?:off the record|this is (?:just )?between (?:us|you and me))\b(?P<what>(?!.).)?",
    ),
    likes=pattern(
        r"\b(?:like|likes|liked|love|loves|loved|loving|enjoy|enjoys|enjoyed|hate|hates|hated|dislike|dislikes"
        r"|prefer|prefers|preferred|"
        r"adore|adores|detest|loathe|can't stand|can’t stand|cannot stand|favou?rite|fan of|into|fond of|keen on"
        r"|passionate|would rather|'d rather|always|"
        r"never|usually|tend to|avoid|avoids|allergic|vegetarian|vegan|gluten|rather than|instead of|my thing"
        r"|obsessed|addicted|"
        r"mainly use|mostly use|only use|go-to|appeals|don't eat|don’t eat|do not eat|don't drink|don't mind|hobby"
        r"|hobbies)\b(?! to (?:have|be) (?:a|an)\b)",
    ),
    negation=pattern(
        r"\b(?:not|no longer|never|don't|don’t|dont|doesn't|doesn’t|didn't|isn't|isn’t|aren't|wasn't|can't|can’t"
        r"|cannot|won't|stopped|quit|gave up|"
        r"given up|hate|hates|dislike|dislikes|detest|loathe|stopped liking|no more|without|anymore|any more)\b",
    ),
    change=pattern(
        r"\b(?:now|no longer|anymore|any more|switched|moved|changed|actually|instead|again|these days|nowadays"
        r"|recently|just started|not|don't|don’t|"
        r"doesn't|doesn’t|stopped|quit|gave up|given up|used to|currently|correction|i meant|rather|by now|as of)\b",
    ),
    additive=pattern(
        r"\b(?:also|as well|too|another|second|besides|in addition|on the side|part[- ]time|both|sometimes|on "
        r"weekends|temporarily|for (?:a|the) (?:week|weekend|month|summer))\b"
    ),
    slots=(
        Slot("home", pattern(
            rf"^i(?: {_ADV})?(?:{_BE} )?{_ADV}(?:lives?|living|resides?|residing|based|located) in {_VALUE}")),
        Slot("home", pattern(
            rf"^i(?: {_ADV})?(?:{_BE} )?{_ADV}(?:lives?|living|resides?|residing|based|located) (?:at|near|on"
            rf"|outside) {_VALUE}"), firm=False),
        Slot("home", pattern(
            rf"^i{_HAVE}{_ADV}(?:moved|relocated)(?: back| over| out)?(?: from .{{1,40}}?)? (?:in)?to {_VALUE}")),
        Slot("home", pattern(rf"^i{_HAVE}{_ADV}(?:settled) (?:down )?in {_VALUE}")),
        Slot("home", pattern(
            rf"^my (?:new |current )?(?:home|house|flat|apartment|place)(?: {_ADV})?(?:'s| is)(?: {_ADV})? ?in "
            rf"{_VALUE}"), firm=False),
        Slot("home", pattern(rf"^i(?: don't| don’t| do not| doesn't| no longer)(?: {_ADV})? ?lives? in {_VALUE}"),
            ended=True),
        Slot("address", pattern(rf"^my (?:new |home |current |postal )*address(?: now)? is(?: now)? {_VALUE}")),
        Slot("origin", pattern(
            rf"^i(?:{_BE})?(?: {_ADV})? ?(?:(?:originally )?from|comes? from|was born in|grew up in) {_VALUE}"),
            firm=False),
        Slot("employer", pattern(
            rf"^i(?:{_BE})?(?: {_ADV})? ?(?:works?|working|employed) (?:as .{{1,50}}? )?(?:at|for) (?!home\b"
            rf"|night\b|myself\b|hours\b|days\b|years\b) ?{_VALUE}")),
        Slot("employer", pattern(
            rf"^i{_HAVE}{_ADV}(?:started(?: working| work| a (?:new )?job| my new job)?|joined|got (?:a |hired |a "
            rf"new )(?:job )?|begun(?: working)?|"
            rf"been hired|found a (?:new )?job|switched (?:jobs )?) ?(?:at|by) {_VALUE}")),
        Slot("employer", pattern(rf"^i{_HAVE}{_ADV}joined (?!a gym|the gym|a club|a group|a team|a class){_VALUE}"),
            firm=False),
        Slot("employer", pattern(
            rf"^i(?:{_BE})(?: {_ADV})? ?(?:an? ){_ROLE.replace('?P<value>', '?:')} (?:at|for) {_VALUE}")),
        Slot("employer", pattern(rf"^my (?:new |current )?(?:employer|company)(?:'s| is)(?: now)? {_VALUE}")),
        Slot("employer", pattern(
            rf"^i(?: don't| don’t| do not| doesn't| no longer)(?: {_ADV})? ?works? (?:at|for|with) {_VALUE}",
            rf"^i{_HAVE}{_ADV}(?:left|quit) (?!the|a\b|it\b|for\b|home\b|my job){_VALUE}"), ended=True),
        Slot("employer", pattern(
            rf"^i{_HAVE}{_ADV}(?:quit|lost|left|resigned from) my (?:old )?job",
                rf"^i{_HAVE}{_ADV}(?:retired|been laid off|been fired)\b",
            rf"^i(?:{_BE})(?: {_ADV})? ?(?:unemployed|out of work|retired|between jobs)\b"), ended=True),
        Slot("job", pattern(
            rf"^i(?:{_BE})?(?: {_ADV})? ?(?:works?|working|employed|hired) as (?:an? |the )?{_VALUE}(?<! at)")),
        Slot("job", pattern(rf"^i(?:{_BE})(?: {_ADV})? ?(?:an? |the ){_ROLE}")),
        Slot("job", pattern(
            rf"^i{_HAVE}{_ADV}(?:become|became|been promoted to|promoted to|got promoted to|was promoted to) (?:an? "
            rf"|the )?{_ROLE}")),
        Slot("job", pattern(
            rf"^my (?:new |current )?(?:job|profession|occupation|role|job title)(?: now)?(?:'s| is)(?: now)? "
            rf"(?:an? |as an? )?{_VALUE}")),
        Slot("diet", pattern(
            rf"^i(?:{_BE}|{_HAVE}(?:become|became|gone|turned|went)|{_HAVE}{_ADV}switched to(?: an?)?"
            rf"|{_HAVE}follows?(?: an?)?|{_HAVE}eats?)"
            rf"(?: {_ADV})? ?(?:an? )?(?:strict |strictly )?{_DIET}",
            rf"^my diet is (?:now )?(?:strictly )?{_DIET}")),
        Slot("diet", pattern(r"^i(?:'ve| have)?(?: now)?(?: started)? (?:eats?|eating) (?P<value>meat|everything)\b"
            r"(?=(?: (?:again|now))*\s*(?:[,.;!]|$))")),
        Slot("diet", pattern(
            rf"^i(?:'m|’m| am| is)(?: not|n't)(?: an?)?(?: {_ADV})? ?{_DIET}",
                rf"^i(?:'m|’m| am| is) no longer (?:an? )?{_DIET}",
            rf"^i{_HAVE}{_ADV}(?:stopped being|quit being|gave up being) (?:an? )?{_DIET}"), ended=True),
        Slot("avoids", pattern(
            rf"^i(?: don't| don’t| do not| doesn't| never| can't| can’t| cannot| no longer|'ve stopped| have "
            rf"stopped| avoids?) ?(?:eats?|eating|drinks?|drinking|have)? ?{_VALUE}"
            r"(?<=.)") , single=False),
        Slot("allergy", pattern(rf"^i(?:{_BE})(?: {_ADV})? ?(?:allergic|intolerant) to {_VALUE}",
            rf"^i{_HAVE}an? (?P<value>[\w ]{{1,30}}?) (?:allergy|intolerance)\b"), single=False),
        Slot("name", pattern(
            r"^my (?:new |first |full |real )?name(?: now)?(?:'s| is)(?: now)? (?P<value>[^,.;!?()]{1,40}?)(?= and "
            r"| but |\s*[,.;!?(]|\s*$)")),
        Slot("name", pattern(
            r"^i(?:'m|’m| am| is) (?:called|named) (?P<value>[^,.;!?()]{1,40}?)(?= and | but |\s*[,.;!?(]|\s*$)")),
        Slot("name", pattern(
            r"^(?:i goe?s? by|(?:please )?(?:just )?call me) "
            r"(?P<value>[^,.;!?()]{1,40}?)(?= and | but |\s*[,.;!?(]|\s*$)"), firm=False),
        Slot("name", pattern(
            r"^i(?:'m|’m| am) (?!(?:ok|okay|greek|dutch|swiss|welsh|thai|czech|muslim|jewish|catholic|hindu)\b)"
            r"(?P<value>(?-i:[A-Z])[\w’-]+(?: "
            r"(?-i:[A-Z])[\w’-]+)?)(?<!ian)(?<!ish)(?<!ese)(?<!ican)(?<!nch)(?= and |\s*[,.;!?(]|\s*$)"),
            firm=False),
        Slot("age", pattern(
            r"^i(?:'m|’m| am| is)(?: now| already| only)? (?P<value>\d{1,3})(?: years? old| y/?o| "
            r"now)?\s*(?=[,.;!?(]|and\b|$)",
            r"^i(?:'m|’m| am| is)(?: now| already| only)? (?P<value>\w+(?:-\w+)?) years? old",
            r"^i(?:'ve| have|'s| has)?(?: just| recently)* turned (?P<value>\d{1,3})\b",
            r"^my age is (?:now )?(?P<value>\d{1,3})")),
        Slot("birthday", pattern(rf"^my birthday(?:'s| is)(?: on)? {_VALUE}",
            rf"^i was born on (?P<value>\S.{{0,40}}?){_END}")),
        Slot("favourite", pattern(
            rf"^my (?:new |all-time |absolute )*favou?rite (?P<key>[\w' -]{{1,30}}?)(?: now)?(?:'s|’s| is| are)(?: "
            rf"{_ADV})? ?{_VALUE}")),
        Slot("marital", pattern(
            r"^(?:i|we)(?:'m|’m|'re| am| are| is| got| just got| have gotten|'ve gotten)(?: now| still| happily| "
            r"recently| just)* (?P<value>married|single|divorced|engaged|widowed|separated)"
            r"(?=(?: (?:to|with|and|but|now|again)\b|\s*[,.;!?(]|\s*$))")),
        Slot("car", pattern(
            rf"^i(?: {_ADV})? ?drives? (?:an? )(?:new )?{_VALUE}",
                rf"^my (?:new |current )?car(?: now)?(?:'s| is)(?: now)? an? (?P<value>\S.{{0,40}}?){_END}",
            rf"^i{_HAVE}{_ADV}(?:bought|got) a new car,? an? (?P<value>\S.{{0,40}}?){_END}")),
        Slot("phone", pattern(
            r"^my (?:new |current )?(?:(?P<key>work|office|home|private|second|mobile|cell)\b ?)?(?:(?:phone|telephone)(?: number)?|(?<=mobile )number|(?<=cell )number|(?<=mobile)|(?<=cell))(?: now)?(?:'s| is)(?: "
            r"now)? (?P<value>[+(]?\d[\d ()./-]+)")),
        Slot("email", pattern(
            r"^my (?:new |current )*(?:(?P<key>work|private|personal|school|office|business|second|other) )?e-?mail(?: address)?(?: now)?(?:'s| is)(?: now)? "
            r"(?P<value>\S+@\S+)")),
        Slot("replies", pattern(
            r"\b(?:answer|reply|respond|speak|write|talk)(?: to)?(?: me)?(?: only| always)? in (?P<value>english"
            r"|italian|spanish|french|german|portuguese|japanese|chinese|korean|russian)\b")),
        Slot("name of", pattern(
            r"^my (?:new )?(?P<key>wife|husband|partner|girlfriend|boyfriend|fianc[ée]e?|boss|manager|mother|father"
            r"|mom|mum|dad|doctor|dentist|landlord)(?:(?:'s name|’s name)(?:'s|’s| is)|(?:'s|’s| is)(?: called| named))"
            r" (?P<value>(?-i:[A-Z])[\w'’-]+(?: (?-i:[A-Z])[\w'’-]+)?)\s*(?=[,.;!?(]|and\b|$)")),
        Slot("name of", pattern(
            r"^my (?:new )?(?P<key>wife|husband|partner|girlfriend|boyfriend|fianc[ée]e?|boss|manager|mother|father"
            r"|mom|mum|dad|doctor|dentist|landlord)(?:'s|’s| is)"
            r" (?P<value>(?-i:[A-Z])[\w'’-]+(?: (?-i:[A-Z])[\w'’-]+)?)\s*(?=[,.;!?(]|and\b|$)"), firm=False),
        Slot("own", pattern(
            r"^my (?:new |current )?(?P<key>(?:[\w'’-]+ ){0,3}(?:number|code|size|address|username|nickname|budget"
            r"|goal|target|weight|height|deadline|timezone|time zone|"
            rf"title|major|salary|schedule|laptop|phone|editor|school|university|team))(?: now)?(?:'s|’s| is)(?: "
            rf"{_ADV})? ?{_VALUE}")),
        Slot("speaks", pattern(rf"^i(?: {_ADV})? ?speaks? {_VALUE}"), single=False),
        Slot("pet", pattern(
            rf"^i{_HAVE}(?:got )?(?P<value>(?:an?|two|three|\d+) (?:[\w-]+ ){{0,2}}(?:dogs?|cats?|puppy|puppies"
            rf"|kittens?|parrot|rabbit|hamster|horse|turtle|goldfish)\b.{{0,30}}?){_END}",
            rf"^my (?P<key>dog|cat|puppy|kitten|parrot|rabbit|hamster|horse)(?:'s name)?(?:'s| is) "
            rf"(?P<value>\S.{{0,40}}?){_END}"), single=False),
    ),
    nouns={
        "diet": "diet", "food": "diet", "eating": "diet", "eat": "diet", "nutrition": "diet", "allergy": "allergy",
            "allergies":
            "allergy",
        "home": "home", "live": "home", "residence": "home", "city": "home", "address": "address", "job": "job", "work":
            "job",
            "employer":
            "job",
        "company": "job", "profession": "job", "career": "job", "occupation": "job", "name": "name", "age": "age",
            "old":
            "age",
        "birthday": "birthday", "birthdate": "birthday", "phone": "phone", "email": "email", "e-mail": "email", "car":
            "car",
        "pet": "pet", "pets": "pet", "partner": "partner", "relationship": "partner", "marriage": "partner",
            "languages":
            "speaks",
        "origin": "origin", "hometown": "origin", "birthplace": "origin",
    },
    dates=DateWords(
        days={
            "day before yesterday": -2, "yesterday": -1, "last night": -1, "today": 0, "tonight": 0, "this morning": 0,
            "this afternoon": 0, "this evening": 0, "earlier today": 0, "day after tomorrow": 2, "tomorrow": 1,
        },
        spans={
            "last week": ("week", -1), "this week": ("week", 0), "next week": ("week", 1), "last weekend": ("weekend",
            -1),
            "this past weekend": ("weekend", -1), "past weekend": ("weekend", -1), "this weekend": ("weekend", 0),
            "next weekend": ("weekend", 1), "last month": ("month", -1), "this month": ("month", 0), "next month": (
                "month", 1),
            "last year": ("year", -1), "this year": ("year", 0), "next year": ("year", 1),
        },
        numbers={
            "a": 1, "an": 1, "one": 1, "two": 2, "a couple of": 2, "three": 3, "four": 4, "five": 5, "six": 6,
            "seven": 7,
            "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30,
        },
        units={
            "day": "day", "days": "day", "week": "week", "weeks": "week", "month": "month", "months": "month",
            "year": "year", "years": "year", "yrs": "year", "weekend": "weekend", "weekends": "weekend",
        },
        ago=r"{n} {unit} ago|{n} {unit} back",
        ahead=r"(?:with)?in {n} {unit}(?:'s time|' time)?|{n} {unit} from (?:now|today)",
        weekdays={
            "monday": 0, "mon": 0, "tuesday": 1, "tue": 1, "tues": 1, "wednesday": 2, "wed": 2, "thursday": 3, "thu": 3,
            "thurs": 3, "friday": 4, "fri": 4, "saturday": 5, "sat": 5, "sunday": 6, "sun": 6,
        },
        named=(
            ("(?:last|this past) {weekday}", "last"), ("(?:this|this coming|on this) {weekday}", "this"),
            ("(?:next|the coming) {weekday}", "next"), ("(?:by|until) {weekday}", "this"),
        ),
        months=(
            "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
                "November",
            "December",
        ),
    ),
)  # fmt: skip
