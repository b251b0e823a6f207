"""The table of what counts as durable in English: one row is one rule. To teach a statement, add a row.

A pattern is matched at the start of a clause, after greetings and the like are stripped, with quotations
blanked out. `{I}`, `{am}`, `{have}`, `{thing}` and the like stand for the pieces of `_PIECES`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .voice import ADVERB, IRREGULAR_PASTS

__all__ = ["OCCUPATION", "RELATION", "RULES", "Rule"]


RELATION = (
    r"(?:wife|husband|partner|spouse|fianc[ée]e?|girlfriend|boyfriend|son|daughter|kids?|child|children|baby|twins|"
    r"toddler|mother|father|mum|mom|dad|parents|sister|brother|siblings?|grand(?:ma|pa|mother|father|son|daughter|"
    r"parents|kids|children)|aunt|uncle|cousin|niece|nephew|(?:best )?friend|roommate|flatmate|neighbou?r|boss|"
    r"manager|colleague|co-?worker|team|family|in-laws|(?:mother|father|sister|brother)-in-law|step\w+|"
    r"(?:service )?dogs?|cats?|pupp(?:y|ies)|pups?|doggies|(?:furry|four-legged) (?:friends|pals)|fur babies|kittens?|"
    r"rabbits?|parrot|horses?|hamster|guinea pigs?|tortoise|pets?|doctor|therapist|dentist|landlord)"
)
"""Whom a person speaks of as theirs."""

OCCUPATION = (
    r"(?:(?:[\w-]+ ){0,3}(?:nurse|teacher|doctor|lawyer|chef|cook|engineer|developer|programmer|designer|architect|"
    r"writer|editor|driver|pilot|farmer|baker|manager|director|analyst|scientist|researcher|consultant|accountant|"
    r"student|professor|lecturer|photographer|musician|artist|painter|electrician|plumber|carpenter|mechanic|dentist|"
    r"pharmacist|therapist|counsell?or|journalist|translator|librarian|vet|veterinarian|paramedic|firefighter|"
    r"freelancer|founder|ceo|cto|entrepreneur|owner|gardener|coach|trainer|sculptor|pianist|violinist|biologist|"
    r"chemist|physicist|economist|psychologist|surgeon|midwife|waiter|waitress|barista|bartender|salesperson|"
    r"technician|producer|actor|actress|dancer|poet|novelist|tailor|potter|retiree|pensioner)s?)"
)

_PIECES = {
    "adv": r"(?:(?:" + ADVERB + r")\s+)*",
    "I": r"(?:i|we|(?:my \w+|\w+) and i|both of us)\s+(?:(?:" + ADVERB + r")\s+)*(?:(?:no longer)\s+)?",
    "am": r"(?:(?:i['’]?m|i am|we['’]re|we are)\s+)(?:(?:" + ADVERB + r")\s+)*(?:(?:not|no longer)\s+)?"
    r"(?:(?:" + ADVERB + r")\s+)*",
    "have": r"(?:i['’]ve|i have|we['’]ve|we have)\s+(?:(?:" + ADVERB + r")\s+)*",
    "not": r"(?:don['’]t|do not|can['’]t|cannot|can not|won['’]t|never)\s+(?:(?:" + ADVERB + r")\s+)*",
    "thing": r"(?!(?:it|that|this|these|those|them|him|her|you|your|yours|how|what|when|where|which|who|why|so|too|"
    r"both|everything|something|anything|nothing|one|ones|more|if|as|seeing|hearing|being|talking|thinking|"
    r"the (?:first|second|third|last|next|other|earlier|later|cheap\w*|idea|way|sound|look|fact|thought|vibes?|"
    r"energy|view|one|colou?rs?|picture|photo)|to (?:hear|know|see|say|"
    r"be|think|talk|chat))\b)(?=\w)",
    "a": r"(?:a|an|the|some|two|three|four|five|six|seven|\d+)\s+",
    "relation": RELATION,
    "occupation": OCCUPATION,
}


@dataclass(frozen=True)
class Rule:
    """One kind of durable statement: what it looks like, and what the fact made of it is worth.

    `rewrite` is a template over `{subject}` and the pattern's groups; without it the clause is turned into
    the third person. `lasting` rows are refused where the clause says that it is only for the moment, and
    rows that do not `address_agent` where it speaks about "you".
    """

    name: str
    pattern: re.Pattern[str]
    categories: tuple[str, ...]
    importance: float
    rewrite: str | None = None
    lasting: bool = True
    addresses_agent: bool = False


def _rule(
    name: str,
    pattern: str,
    category: str,
    importance: float,
    *,
    rewrite: str | None = None,
    lasting: bool = True,
    addresses_agent: bool = False,
) -> Rule:
    for piece, meaning in _PIECES.items():
        pattern = pattern.replace("{" + piece + "}", meaning)
    compiled = re.compile(pattern, re.IGNORECASE)
    return Rule(name, compiled, tuple(category.split()), importance, rewrite, lasting, addresses_agent)


_PAST_EVENTS = (
    r"(?:adopted|bought|got (?:(?:a|an|my|our|the|two|another) (?:\w+ )?(?:job|dog|cat|"
    r"puppy|kitten|degree|licen[cs]e|tattoo|promotion|scholarship|medal|award|offer|car|house|flat|phd|"
    r"certificate|tickets?|"
    r"\w*bike|piano|guitar|visa|passport|laptop|phone|camera)|new|engaged|married|divorced|promoted|accepted|"
    r"laid|hired|fired|noticed|picked|selected|chosen|hurt|injured|into|"
    r"(?:an?|some|my|our|two|three|lots of) new)|"
    r"visited|went (?:to|on|camping|hiking|skiing|swimming|back to)|attended|joined|started|finished|completed|"
    r"graduated|won|lost|met|moved|painted|signed up|volunteered|ran|hiked|travell?ed|took (?:up|a|an|my|our|part)|"
    r"passed|failed|applied|donated|organi[sz]ed|published|launched|built|planted|sold|opened|quit|retired|resigned|"
    r"broke (?:my|up)|had (?:a|an|my|our) (?:baby|surgery|operation|stroke|accident|miscarriage|heart|interview|"
    r"picnic|party|reunion|setback|injury|(?:\w+ ){0,3}(?:accident|hike|mentor|flood|break-?up|exhibition|concert))|"
    r"had the opportunity to (?:attend|meet|visit|perform|work|play|travel|study)|participated|received|explored|"
    r"restored|scored|arranged|found (?:a|an) (?:\w+ )*?(?:new|great|good|cool|perfect|job|\w+ that)|"
    r"became|founded|created|designed|ordered|booked|cancell?ed|subscribed|"
    r"upgraded|downgraded|hosted|performed|recorded|wrote|read|ran|raised|presented|gave (?:a|birth)|set up|"
    r"learn(?:ed|t)|discovered|hurt|injured|sprained|tore|recovered|celebrated|renovated|enrolled|competed)"
)

RULES: tuple[Rule, ...] = (
    # Who the person is
    _rule("name", r"my (?:full |first |last )?name(?: is|['’]s)\s+(?P<value>[^,.;!]{1,60})", "identity", 0.9,
          rewrite="{subject} is called {value}"),
    _rule("call me", r"(?:(?:please|you can|just) )*call me\s+(?!(?:back|when|if|at|on|before|after|a|an|the|crazy|now|"
          r"later|tomorrow|today)\b)(?P<value>[\w'’.-]+(?: [A-Z][\w'’.-]+)?)(?=$|[\s,.;!])", "identity contact", 0.9,
          rewrite="{subject} prefers to be called {value}", addresses_agent=True),
    _rule("age", r"(?:{am}\d{1,3}(?=$|[\s,.;!-](?!\s*(?:minutes|hours|%|days|km|miles)))|(?:i|"
         r"we) (?:just )?turned \d{1,3}"
          r"|{I}turn \d{1,3}|{am}turning \d{1,3})", "identity", 0.7),
    _rule("birth", r"(?:my birthday(?: is|['’]s)|(?:i|we) (?:was|were) born|{I}grew up|{I}come from|"
         r"{am}(?:originally )?"
          r"from (?!here|there|the future))", "identity", 0.8),
    _rule("detail", r"(?:my|our) (?:new )?(?:e-?mail|phone|mobile|home|postal|work|delivery|cell)?\s?(?:address|number|"
          r"e-?mail|time ?zone|shoe size|clothing size|ring size|size|height|weight|blood type|nationality|"
          r"mother tongue|"
          r"native language|first language|pronouns|surname|star sign|religion|budget|"
          r"passport country)(?: for [\w ]{1,30}?)?(?: is| are|['’]s)",
          "identity contact", 0.8),
    _rule("speaks", r"{I}(?:can |(?:don['’]t|do not|can['’]t|cannot) )?speak (?!to|with|for|up|of|about)|"
         r"{am}(?:fluent|a "
          r"native speaker|bilingual)", "skill", 0.6),
    # Where
    _rule("lives", r"{I}(?:(?:don['’]t|do not) )?(?:live|reside|stay) (?:in|at|on|near|alone|with|outside|abroad|by|"
         r"just|"
          r"between)|{am}(?:based|living|residing|staying with|settled) (?:in|near|at|outside|with|on)\b|"
          r"{I}used to live|"
          r"{have}(?:been living|lived) (?:in|at|here)", "place", 0.8),
    _rule("moved", r"(?:{I}|{have})(?:moved|relocated) (?:to|from|in|into|out|back|house|here|away)|{am}(?:moving|"
          r"relocating) (?:to|from|in|out|back|house|away)|{I}(?:left|emigrated|immigrated)\s+(?:from |to )?"
          r"(?-i:[A-Z]\w+) for (?-i:[A-Z])", "place", 0.8, lasting=False),
    # Work and study
    _rule("works", r"{I}(?:(?:don['’]t|do not) )?(?:work|teach|freelance|volunteer|study|studied|worked|taught|used to "
          r"(?:work|teach|study)) (?:at|for|as|in|with|from|on|on-call|nights|part|full|remotely|\w+)|"
          r"{am}(?:working (?:at|"
          r"for|as|in|on|with|from|part|full|remotely)|employed|self-employed|unemployed|retired|studying|volunteering|"
          r"freelancing|teaching|enrolled)|{have}been (?:working|teaching|studying|volunteering)", "work", 0.7),
    _rule("job", r"(?:{am}(?:an? |the )?{occupation}\b|{I}(?:run|own|manage|lead|co-own) (?:a|an|my|our|the|two|"
         r"three)\b|"
          r"(?:my|our) (?:new |current |day )?(?:job|work|role|profession|employer|company|business|start-?up|shop|"
          r"studio|"
          r"bakery|title|job title|salary|commute|office|major|degree|thesis)(?: is| are|['’]s| involves| has| makes| "
          r"opens| sells| closes)\s)", "work", 0.7),
    _rule("joined", r"(?:{I}|{have})(?:joined|quit|resigned|left) (?:my (?:job|company|role|firm)|(?-i:[A-Z])|"
          r"(?:a|an|the) (?:\w+ )?(?:company|start-?up|firm|agency|bank|hospital|school|team)\b|from )[^,;]*|(?:{I}|"
          r"{have})"
          r"(?:got|been|was|were) (?:promoted|laid off|fired|hired|transferred)|i was (?:promoted|hired|laid off|"
          r"fired)|"
          r"(?:{I}|{have})(?:started|got|found|accepted|landed|switched|changed) (?:a|my|the)?\s?(?:new |own |"
          r"part-time |"
          r"full-time |different |dream )*(?:job|jobs|position|role|business|company|internship|careers?|promotion|"
          r"offer)|"
          r"{am}(?:starting|joining|leaving) (?:a|an|my|at|(?-i:[A-Z]))", "work", 0.7, lasting=False),
    # Health and food
    _rule("allergy", r"{am}(?:severely |mildly |slightly |highly |very |deathly |so )?(?:allergic|intolerant|"
         r"sensitive) to"
          r"|{am}(?:lactose|gluten)|{I}(?:have|['’]ve got|developed)\s+(?:\w+[- ]){0,4}(?:allerg(?:y|ies)|intolerance|"
          r"c(?:o)?eliac)|(?:\w+ ){1,3}(?:gives? me|makes me) (?:hives|migraines|sick|ill|a rash)", "health diet", 0.9),
    _rule("diet", r"{am}(?:an? |strictly |going |gone |mostly |turned |becoming )*(?:vegetarians?|vegans?|"
         r"pescatarians?|"
          r"flexitarians?|keto|kosher|halal|gluten|dairy|sober|teetotal(?:ler)?|coeliac|celiac|on a (?:\w+ )?diet)\b|"
          r"{I}(?:{not})?(?:eat|drink|smoke|cook with) (?!out|it|that)|(?:{I}|{have})(?:stopped|quit|gave up|"
          r"given up|cut "
          r"out|started|gone back to) (?:eating|drinking|smoking|meat|sugar|alcohol|coffee|dairy|gluten|caffeine)|{I}"
          r"(?:became|turned|went|go) (?:a )?(?:vegan|vegetarian|pescatarian|keto)|{I}(?:keep|eat) (?:kosher|halal)",
          "diet", 0.8),
    _rule("condition", r"(?:{I}|{have})(?:(?:was|got|been) )?(?:just )?diagnosed with|{I}(?:have|had|suffer from|"
         r"live with|"
          r"use|wear|take|need)\s+(?:\w+[- ]){0,4}(?:diabetes|asthma|adhd|autism|epilepsy|arthritis|migraines?|"
          r"insomnia|"
          r"anxiety|depression|dyslexia|hypertension|blood pressure|cancer|condition|vertigo|back pain|bad (?:back|"
          r"knees?)|"
          r"wheelchair|crutches|hearing aids?|glasses|contact lenses|pacemaker|insulin|medication|medicine|tablets|"
          r"pills|"
          r"metformin|ibuprofen|statins|step-free|walking stick)|{am}(?:(?:type[ -][12] )?diabetic|asthmatic|pregnant|"
          r"epileptic|deaf|blind|dyslexic|autistic|colou?r-?blind|disabled|left-handed|hard of hearing|recovering from|"
          r"claustrophobic|afraid of|scared of|terrified of|expecting|in a wheelchair)|my (?:blood type|doctor "
          r"(?:said|told|says|put|recommends|recommended|prescribed|advised)|(?:left |right )?(?:knee|back|hip|"
          r"shoulder|"
          r"ankle|wrist|leg|arm)s? (?:is|are|was|hurts?) )", "health", 0.8),
    # Family, friends, pets
    _rule("relation", r"(?:my|our) (?:\w+ ){0,2}{relation}\b(?:['’]s (?:\w+ ){0,3}\w+)?(?:,? (?-i:[A-Z])[\w'’-]+,?|"
         r" and "
          r"(?:my )?\w+)?,?(?: (?:both|all|also|now|just|still|recently|no longer|never|always|"
          r"really))* (?:(?-i:[a-z]))?"
          r"(?:is|are|has|have|loves?|likes?|hates?|enjoys?|prefers?|works?|lives?|plays?|studies|study|goes to|turns?|"
          r"turned|go(?:es)? (?:crazy|nuts|wild)|motivates?|was born|were born|can['’]t|cannot|does(?:n['’]t| not)|"
          r"do(?:n['’]t| not)|needs?|speaks?|eats?|"
          r"drinks?|"
          r"uses?|moved|started|died|passed away|got (?:married|engaged|a|into)|gave birth|graduated|joined|owns?|"
          r"runs?|"
          r"takes?|teaches|wears?|named?|called|collects?|adores?|retired|comes? from|grew up|isn['’]t|aren['’]t)\b"
          r"(?! (?:here|fine|ok|okay|well|asleep|calling|waiting|(?:(?:so|very|really|super|such) )?(?:happy|proud|"
          r"excited|great|amazing|awesome|cool|"
          r"lovely|adorable|cute|sick of|tired|back|home|gone|away|coming|a (?:huge |big )?(?:blessing|joy|"
          r"delight))|asking|wondering|right)\b)",
          "relation", 0.7),
    _rule("relation's", r"(?:my|our) (?:\w+ )?{relation}['’]s (?:an? |the |called |allergic|vegetarian|vegan|name|"
         r"(?-i:[A-Z]"
          r")|in (?:first|second|third|year|hospital)|from|at (?:school|university))", "relation", 0.7),
    _rule("named relation", r"{relation}(?:['’]s|s)? names? (?:is|are)", "relation", 0.7),
    _rule("family state", r"{am}(?:married|single|divorced|engaged|widowed|separated|a (?:single )?(?:mother|father|"
         r"mum|mom|"
          r"dad|parent|grandmother|grandfather|widow(?:er)?)|dating|in a relationship|getting (?:married|divorced)|"
          r"an only "
          r"child|the (?:eldest|oldest|youngest))|{I}(?:got|get) (?:married|engaged|divorced)|{have}been (?:married|"
          r"together|"
          r"dating|divorced)", "relation", 0.8, lasting=False),
    _rule("has", r"(?:{I}(?:have|own|adopted|lost)|{have}got|{have}(?:adopted|had)|{I}(?:don['’]t|do not) (?:have|own))"
          r"\s+(?:an? |the |two |three |four |five |six |\d+ |no |any |another |twin |some |my )(?:[\w'’-]+ ){0,4}"
          r"(?:{relation}s?|cats|dogs|puppies|kittens|sons|daughters|brothers|sisters|cousins|friends|garden|car|"
          r"house|flat|"
          r"apartment|allotment|motorbike|motorcycle|bike|boat|piano|guitar|camper|van|driving licen[cs]e|"
          r"licen[cs]e|visa|"
          r"passport|degree|phd|chickens?|bees|fish|goldfish|snakes?|birds?)\b", "relation", 0.7),
    # Likes and habits
    _rule("favourite", r"(?:(?:my|our) (?:all[- ]time |absolute |new |current )?favou?rites? [\w ]{0,40}?(?:is|are|"
         r"was|has "
          r"always been)|[\w'’ -]{2,60} (?:is|are) (?:(?:" + ADVERB + r") )*(?:(?:my|our) (?:all[- ]time |"
          r"absolute )?favou?rite|(?:one|some) of (?:my|our) (?:all[- ]time )?"
          r"favou?rites?))"
          r"(?! part of (?:this|the day))", "preference", 0.6),
    _rule("likes", r"{I}(?:(?:don['’]t|do not|can['’]t|cannot|never|used to|do|didn['’]t)\s+{adv})?(?:love|like|"
         r"enjoy|adore|"
          r"hate|dislike|prefer|favou?r|detest|loathe|stand|bear|fancy|despise|collect|miss)\s+{thing}",
          "preference", 0.6),
    _rule("would rather", r"(?:i['’]d|i would) (?:rather (?!know)|prefer (?!if you could)){thing}", "preference", 0.6),
    _rule("fond", r"{am}(?:a |an |such a |such an |very |so |too |pretty |big |huge )*(?:into|fond of|keen on|"
         r"crazy about|"
          r"obsessed with|passionate about|fans? of|interested in|more of an?|addicted to|good at|bad at|"
          r"used to (?=\w+ing)|"
          r"(?:huge |big )?(?:[\w-]+ ){1,2}fan\b|tired of|sick of)\s+{thing}|(?:[\w'’ -]{2,40}) (?:is|"
          r"are) not (?:really "
          r")?for me|not a fan of {thing}", "preference", 0.6),
    _rule("passion", r"(?:[\w'’ -]{2,40}) (?:is|are|['’]s) (?:(?:" + ADVERB + r") )*(?:my|our) (?:\w+ )?(?:passion|"
         r"hobby|"
          r"dream|comfort food|happy place|therapy|escape|guilty pleasure|go-to|thing)\b|(?:my|"
          r"our) (?:\w+ )?(?:hobby|hobbies|"
          r"passions?|dream|goal|plan|routine|biggest fear|guilty pleasure|go-to)(?: is| are|['’]s| includes?)\s",
          "preference goal", 0.6),
    _rule("habit", r"{I}(?:(?:don['’]t|do not|never|can['’]t)\s+)?(?:play|run|swim|cycle|hike|climb|paint|draw|"
         r"write|read|"
          r"garden|knit|sew|bake|cook|dance|sing|meditate|travel|fly|drive|commute|volunteer|train|practi[sc]e|"
          r"celebrate|go|"
          r"get up|wake "
          r"up|watch|listen to|attend|visit|camp|fish|ski|surf|do|use|code|program|pray|fast|shop|take|walk|"
          r"exercise|sleep|"
          r"make|spend|keep|pay|wear|buy|bring|order|sit|travel)\b[^,;]*\b(?:every|each|daily|weekly|monthly|twice|"
          r"once|"
          r"always|usually|mondays?|tuesdays?|wednesdays?|thursdays?|fridays?|saturdays?|sundays?|weekends?|"
          r"mornings|evenings|"
          r"nights|regularly|since|for (?:fun|years)|times a|all the time|whenever|a lot)\b|(?:i|we) (?:(?:always|"
          r"usually|"
          r"never|normally|typically|rarely|generally) )+(?!(?:\w+ed|" + "|".join(sorted(IRREGULAR_PASTS)) +
         r"|mind|thought|knew|know|seen|saw|heard|had|been|"
          r"forget|got|think|feel|still|really|wonder|worry|hope|wanted|say|said|felt|am|was|would|could|look|"
          r"remember)\b)(?:\w+ )"
          r"[\w'’]+|{I}(?:play|run|code|program|knit|dance|surf|ski|garden|meditate|fly|drive|bake|write code|"
          r"use(?= (?-i:[A-Z])))\s+"
          r"(?:(?:the|a|an|my|in|with|on|for) )?\w+", "habit", 0.5),
    _rule("experience", r"{have}(?:been (?!doing|thinking|feeling|adding|keeping|going through|"
         r"working hard)(?:\w+ing|in|into|with|playing|to)\b[^,;]*\b(?:for|since|years?|months|ages|once|"
          r"twice|times)\b|been to {thing}|never {thing}\w+|loved|always wanted|always loved|played|known|visited|"
          r"had [^,;]*\b(?:for|since)\b|"
          r"owned|decided|worked|studied)", "experience", 0.5),
    _rule("ongoing", r"(?!.*\b(?:errors?|issues?|problems?|bugs?|crash\w*|exceptions?|this|these)\b){have}been "
          r"(?:(?:" + ADVERB + r") )*(?:(?!(?:feeling|doing|having|being|keeping|going|trying|wondering|meaning|"
          r"waiting|hoping|telling|sitting|thinking|looking (?:at|for|forward)|talking|saying|struggling|wanting|"
          r"missing|dying|asking|adding|seeing|hearing)\b)\w+ing|(?:busy )?(?:into|involved in)|busy \w+ing)"
          r"\s+(?:[\w'’-]+\W+){1,}[\w'’-]+", "experience", 0.4),
    _rule("used to", r"(?:i|we) used to {thing}(?!be (?:so|really))", "experience", 0.5),
    _rule("need", r"{I}(?:need|require)\s+(?:an? |my |to )?(?:\w+ ){0,2}(?:quiet|accessible|wheelchair|step-free|"
         r"ground-floor|"
          r"vegetarian|vegan|halal|kosher|gluten-free|lift|decaf|be home|leave by|be in bed|avoid|extra legroom|"
          r"child seat|"
          r"high chair|pet-friendly|receipts?|invoices?)", "preference", 0.7),
    # How to deal with the person
    _rule("contact", r"(?:please |kindly |and )*(?:always |never |don['’]t |do not |only |"
         r"just )+(?:please )?(?:ever )?(?:call|"
          r"text|e-?mail|message|write|reply|answer|respond|contact|phone|ring|book|remind|address|speak|use|send|"
          r"suggest|"
          r"offer|keep|give|recommend|seat|put|explain|show|schedule|order)\b(?=.*\b(?:me|my|us|our|"
          r"in (?-i:[A-Z])\w+|by (?:text|phone|"
          r"e-?mail))\b).{3,}|(?:i['’]d like you to |i want you to |i prefer (?:that )?you )(?:(?:always|only|"
          r"never) )*(?:call|reply|answer|write|text|e-?mail|address|speak|contact)\b.{3,}|"
          r"(?:please )?(?:call|text|e-?mail|address|contact|phone|reach|write to|reply to|speak to|"
          r"talk to) me (?:only )?(?:by|via|in|"
          r"on|as|at|before|after|only|between)\b.{3,}|(?:please )?use (?:metric|imperial|celsius|fahrenheit|"
          r"24-hour|formal|informal|simple)\b.*|(?:the )?best (?:way|time) to (?:reach|contact|call) me is",
          "contact", 0.8, rewrite="{subject} asks: {clause}", addresses_agent=True),
    # Orders and support
    _rule("order", r"(?:my|our) (?:\w+ ){0,3}?(?:order|ticket|invoice|booking|reservation|subscription|account|"
         r"contract|plan|"
          r"case|warranty|licen[cs]e|delivery|router|laptop|printer|device|serial number|model|"
          r"customer (?:number|id))"
          r"(?: \w+)?(?: (?:number|id|no\.?))?[ ,#]*(?:[A-Z]{0,5}-?\d[\w-]*)?,? (?:is|was|has|arrived|came|expires?|"
          r"ends?|"
          r"renews?|runs?|keeps|never|stopped|includes?)\b|{am}(?:on|subscribed to) (?:the |your |a )?\w+ (?:plan|tier|"
          r"subscription)|(?:i|we) (?:ordered|returned|bought) .*\b(?:[A-Z]{2,5}-\d+)", "order", 0.6, lasting=False),
    # What is decided, planned, done
    _rule("decision", r"(?:{I}|{have})(?:decided|chosen|chose|agreed|settled|promised|committed|resolved|"
         r"made up my mind|"
          r"switched|changed|stopped|quit|given up|gave up|cancell?ed)\s+{thing}", "decision", 0.7, lasting=False),
    _rule("plan", r"(?:{am}|i['’]m|we['’]re)(?:\s*)(?:(?:going to|gonna|about to|planning (?:to|on)|thinking (?:of|"
         r"about)|considering)(?! (?:keep|mak(?:e|ing) "
          r"(?:it|sure|my|things|time)|try(?:ing)?|stop|forget|let|be|do(?:ing)?|check|look|think|see|need|miss|give|"
          r"love|regret|believe|say|tell|ask|show|send|take (?:your|a (?:look|break))|continue|talk|chat|work on|"
          r"get (?:it|back)|"
          r"find|head|grab|go (?:now|to (?:bed|sleep)))\b)|planning(?= (?:an?|my|our|the)\b)|hoping to|aiming|"
          r"training for|preparing for|saving "
          r"(?:up )?for|getting ready for|looking forward to(?! (?:seeing|hearing|it|more|exploring|reading|"
          r"catching|what)\b)|expecting|due|trying "
          r"to(?= (?:lose|quit|eat|learn|save|stop|cut|get fit|improve|find a)\b)|learning|expanding|offering|"
          r"composing|focusing on|teaming up|restoring|"
          r"(?:creating|developing|launching|recording) (?:an? |my |our )(?:\w+ ){0,2}(?:business|brand|studio|album|"
          r"song|painting|garden|course|community|collection|show|line)|mentoring|taking (?:a|an|my|up|"
          r"part|lessons|classes|piano|swimming)|working on|writing a|building|flying|"
          r"travell?ing|visiting|hosting|organi[sz]ing|attending|running (?:a|for|the|in)|renovating|"
          r"looking for (?:a |an )?"
          r"(?:new )?(?:job|house|flat|apartment|school))\s+{thing}|{I}(?:plan|intend|hope|aim) (?:to|on) {thing}|"
          r"{I}(?:want|"
          r"dream|wish) (?:to|of) (?:learn|become|be able|lose|quit|move|run|retire|start|get better|get fit|stop|open|"
          r"publish|adopt|visit|climb|create|work on|live|improve|teach|study|travel|buy a|build|eat less|cut|save|"
          r"go back|having|becoming|opening|living|"
          r"owning)\b|"
          r"(?:i['’]ll|we['’]ll|i will|we will) be (?:in|at|away|abroad|travell?ing|visiting|turning|moving|on) |"
          r"(?:my|our) "
          r"(?:\w+ ){0,2}(?:wedding|flight|appointment|surgery|exam|interview|deadline|meeting|trip|anniversary|"
          r"holiday|"
          r"vacation|lease|visa|passport|marathon|graduation|due date|party) (?:is|are|expires?|ends?|starts?|"
          r"leaves|runs out|"
          r"was|will be)\b|{I}(?:have|['’]ve got) (?:an? |my |our |the )(?:\w+ ){0,2}(?:appointment|exam|interview|"
          r"meeting|"
          r"deadline|wedding|flight|trip|surgery|race|concert|reunion|class|lesson|recital|competition)\b", "plan", 0.5,
          lasting=False),
    _rule("event", r"(?:{I}|{have})" + _PAST_EVENTS + r"\s+{thing}(?:[\w'’-]+\W+){1,}", "event", 0.4, lasting=False),
    _rule("is", r"{am}an? (?!(?:bit|little|lot|few|couple|tad|second|minute|mess|wreck|fool|kidding|huge|big|total|"
         r"firm|"
          r"believer|sucker|good|bad|great|such|real|lucky|proud|happy|step|work|long|fan)\b)[\w-]+", "identity", 0.6),
    _rule("ability", r"(?:i|we) (?:can['’]t|cannot|can|am able to) (?:swim|drive|cook|cycle|ride|ski|dance|sing|"
         r"sail|dive|code|"
          r"program|touch-type|read|play|fly|hear|see|climb stairs|walk (?:far|long))\b", "skill", 0.5),
    _rule("belief", r"(?:i|we) (?:believe in {thing}|vote|pray|practi[sc]e|belong to|identify as|"
         r"support) (?!you\b)\w+", "identity", 0.5),
)  # fmt: skip
"""Tried in order; the first that matches a clause makes the fact."""
