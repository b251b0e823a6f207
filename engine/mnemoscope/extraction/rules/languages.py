"""First-person statements in other languages: recognised by a table, kept as they were said.

A row that names an `attribute` says something of which a person has one at a time; its group `value` is
which, so that a later sentence can correct an earlier one. Patterns are searched in the sentence.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

__all__ = ["LANGUAGE_RULES", "LanguageRule", "match_language"]


_PLACE = r"(?P<value>(?-i:[A-ZÀ-ÖØ-ÞĐƠƯ]\S*?)(?:\s(?-i:[A-ZÀ-ÖØ-ÞĐƠƯ]\S*?))*)(?=$|[\s,.;!])"
_NAME = r"(?P<value>[\w'’-]+(?:\s(?-i:[A-ZÀ-ÖØ-ÞĐА-Я])[\w'’-]+)*)"
_JAPANESE = r"(?P<value>[一-龯々ァ-ヶーA-Za-z]{2,})"


@dataclass(frozen=True)
class LanguageRule:
    """One kind of durable statement in one language (ISO 639-1)."""

    language: str
    pattern: re.Pattern[str]
    categories: tuple[str, ...]
    importance: float
    attribute: str | None = None


def _row(language: str, category: str, importance: float, pattern: str, attribute: str | None = None) -> LanguageRule:
    return LanguageRule(language, re.compile(pattern, re.IGNORECASE), tuple(category.split()), importance, attribute)


LANGUAGE_RULES: tuple[LanguageRule, ...] = (
    # Spanish
    _row("es", "identity", 0.9, rf"\b(?:me llamo|mi nombre es)\s+{_NAME}", "name"),
    _row("es", "place", 0.8, rf"\b(?:vivo|vivimos|me mudé|nos mudamos|me he mudado|resido)\b.{{0,40}}?\b(?:en|"
         rf"a)\s+{_PLACE}",
         "residence"),
    _row("es", "work", 0.7, rf"\b(?:ya no )?(?:trabajo|empecé a trabajar)\b.{{0,30}}?\b(?:en|para)\s+{_PLACE}",
         "employer"),
    _row("es", "health diet", 0.9, r"\bsoy (?:\w+ )?(?:alérgic[oa]|vegetarian[oa]|vegan[oa]|celíac[oa]|diabétic[oa]|"
         r"intolerante)|\bno (?:como|bebo|fumo)\b|\btengo (?:alergia|diabetes|asma)"),
    _row("es", "preference", 0.6, r"\b(?:no )?me (?:gustan?|encantan?|molestan?)\b|\b(?:ya no )?prefiero\b|\bodio\b|"
         r"\bmi \w+ "
         r"(?:favorit[oa]|preferid[oa]) es"),
    _row("es", "relation", 0.7, r"\b(?:mi|mis) (?:esposa|esposo|marido|mujer|hij[oa]s?|madre|padre|herman[oa]s?|"
         r"novi[oa]|perr[oa]"
         r"|gat[oa])\b.{0,30}\b(?:es|son|se llaman?|tiene|tienen|vive|viven|trabaja)\b|\btengo (?:un|una|dos|"
         r"tres) (?:hij[oa]s?|"
         r"perr[oa]s?|gat[oa]s?|herman[oa]s?)|\b(?:estoy|soy) (?:casad|divorciad|solter)[oa]"),
    _row("es", "work identity plan", 0.6, r"\b(?:trabajo (?:como|de)|estudio \w|soy (?:de (?-i:[A-Z])|ingenier|"
         r"profesor|médic|"
         r"enfermer|abogad|diseñador)|he decidido|decidí|hablo \w+|tengo \d+ años|mi cumpleaños es)"),
    # French
    _row("fr", "identity", 0.9, rf"\b(?:je m['’]appelle|mon nom est|mon prénom est)\s+{_NAME}", "name"),
    _row("fr", "place", 0.8, rf"\b(?:j['’]habite|je vis|nous habitons|on habite|j['’]ai déménagé|"
         rf"je viens d['’]emménager|j['’]ai "
         rf"emménagé)\b.{{0,40}}?(?:\b(?:à|en|au|aux)\s+{_PLACE})", "residence"),
    _row("fr", "work", 0.7, rf"\bje (?:ne )?travaille\b.{{0,20}}?\b(?:chez|à|pour)\s+{_PLACE}", "employer"),
    _row("fr", "health diet", 0.9, r"\bje suis (?:\w+ )?(?:allergique|végétarien|végétalien|végane?|diabétique|"
         r"intolérant|"
         r"enceinte)|\bje ne (?:mange|bois|fume)\b|\bj['’]ai (?:du diabète|de l['’]asthme|une allergie)"),
    _row("fr", "preference", 0.6, r"\b(?:j['’](?:aime|adore|apprécie)|je n['’]aime|je (?:préfère|déteste)|"
         r"mon \w+ préféré)\b"),
    _row("fr", "relation", 0.7, r"\b(?:ma|mon|mes) (?:femme|mari|fils|fille|enfants?|mère|père|sœur|frère|copine|"
         r"copain|chien|chat"
         r")\b.{0,30}\b(?:est|sont|s['’]appellent?|a|ont|travaille|habite|aime)\b|\bj['’]ai (?:un|une|deux|"
         r"trois) (?:fils|filles?|"
         r"enfants?|chiens?|chats?|frères?|sœurs?)|\bje suis (?:marié|divorcé|célibataire)"),
    _row("fr", "work identity plan", 0.6, r"\b(?:je travaille comme|j['’]étudie|je suis (?:infirmi|professeur|"
         r"ingénieur|médecin|"
         r"avocat|développeu|étudiant|né)|j['’]ai décidé|je parle \w+|j['’]ai \d+ ans|mon anniversaire est)"),
    # German
    _row("de", "identity", 0.9, rf"\b(?:ich heiße|mein name ist)\s+{_NAME}", "name"),
    _row("de", "place", 0.8, rf"\b(?:ich (?:wohne|lebe)|wir (?:wohnen|leben)|(?:ich bin|"
         rf"wir sind)(?=.*gezogen))\b.{{0,40}}?"
         rf"\b(?:in|nach)\s+{_PLACE}", "residence"),
    _row("de", "work", 0.7, rf"\bich arbeite\b.{{0,20}}?\b(?:bei|für)\s+{_PLACE}", "employer"),
    _row("de", "health diet", 0.9, r"\bich bin (?:\w+ )?(?:allergisch|vegetarier|veganer|vegan|vegetarisch|"
         r"diabetiker|schwanger)|"
         r"\bich (?:esse|trinke|rauche) (?:kein|nicht|nie)|\bich habe (?:eine \w*allergie|diabetes|asthma)|"
         r"\bich vertrage kein"),
    _row("de", "preference", 0.6, r"\bich (?:mag|liebe|bevorzuge|hasse|trinke gern|esse gern|"
         r"\w+ (?:sehr )?gerne?)\b|\bmein"
         r"\w* lieblings\w+ (?:ist|sind)"),
    _row("de", "relation", 0.7, r"\bmeine? (?:frau|mann|sohn|tochter|kinder|mutter|vater|schwester|bruder|freundin|"
         r"freund|hund|"
         r"katze)\b.{0,30}\b(?:ist|sind|heißt|heißen|hat|haben|arbeitet|wohnt|mag)\b|\bich habe (?:eine?n?|zwei|"
         r"drei) (?:sohn|"
         r"söhne|töchter|tochter|kinder|hunde?|katzen?)|\bich bin (?:verheiratet|geschieden|ledig)"),
    _row("de", "work identity plan", 0.6, r"\bich (?:arbeite als|studiere|spreche \w|bin \d+ jahre|"
         r"habe (?:beschlossen|mich "
         r"entschieden)|komme aus)|\bich habe am .* geburtstag"),
    # Portuguese
    _row("pt", "identity", 0.9, rf"\b(?:(?:eu )?me chamo|meu nome é|chamo-me)\s+{_NAME}", "name"),
    _row("pt", "place", 0.8, rf"\b(?:(?:eu )?moro|moramos|me mudei|mudei-me|nos mudamos)\b.{{0,40}}?\b(?:em|no|na|"
         rf"para(?: o| a)?)\s+"
         rf"{_PLACE}", "residence"),
    _row("pt", "health diet", 0.9, r"\b(?:eu )?sou (?:\w+ )?(?:alérgic[oa]|vegetarian[oa]|vegan[oa]|celíac[oa]|"
         r"diabétic[oa])|\bnão "
         r"(?:como|bebo|fumo)\b|\btenho (?:alergia|diabetes|asma)"),
    _row("pt", "preference", 0.6, r"\beu (?:não )?(?:gosto|adoro|amo|odeio|prefiro)\b|"
         r"\b(?:não )?gosto (?:muito )?d[eoa]s?\b|"
         r"\bprefiro\b|\bmeu \w+ favorito é"),
    _row("pt", "relation work", 0.7, r"\b(?:minha|meu|meus|minhas) (?:esposa|marido|mulher|filh[oa]s?|mãe|pai|"
         r"irm[ãa]o?|namorad[oa]|"
         r"cachorr[oa]|gat[oa])\b.{0,30}\b(?:é|são|se chama|tem|mora|trabalha)\b|\btenho (?:um|uma|dois|duas|"
         r"três) (?:filh|cachorr|"
         r"gat|irm)|\b(?:eu )?(?:trabalho (?:como|na|no|em)|estudo \w|decidi|falo (?:português|inglês|\w+ês))"),
    # Italian
    _row("it", "identity", 0.9, rf"\b(?:mi chiamo|il mio nome è)\s+{_NAME}", "name"),
    _row("it", "place", 0.8, rf"\b(?:abito|vivo|mi sono trasferit[oa]|viviamo|abitiamo)\b.{{0,30}}?\b(?:a|"
         rf"in)\s+{_PLACE}", "residence"),
    _row("it", "preference health work", 0.7, r"\b(?:non )?mi (?:piacciono|piace)\b|\bpreferisco\b|\bodio\b|"
         r"\bsono (?:allergic|"
         r"vegetarian|vegan|celiac|diabetic)[oa]|\bnon (?:mangio|bevo|fumo)\b|\blavoro (?:come|in|per|alla)\b|"
         r"\bho deciso\b"),
    # Russian
    _row("ru", "identity", 0.9, rf"\bменя зовут\s+{_NAME}", "name"),
    _row("ru", "place", 0.8, r"\b(?:я|мы)?\s*(?:\w+ ){0,3}?(?:живу|живём|живем|переехал[аи]?|проживаю|перебрал(?:ся|"
         r"ась|ись))\b"
         r".{0,40}?\b(?:в|во|на)\s+(?P<value>(?-i:[А-ЯЁA-Z])[\w-]+)", "residence"),
    _row("ru", "work", 0.7, r"\b(?:работаю|устроил(?:ся|ась))\b.{0,20}?\b(?:в|"
         r"на)\s+(?P<value>(?-i:[А-ЯЁA-Z«])[\w»-]+)", "employer"),
    _row("ru", "health diet", 0.9, r"\bу меня (?:\w+ )?(?:аллергия|диабет|астма|непереносимость)|"
         r"\bя (?:\w+ )?(?:вегетариан|веган|"
         r"диабети)|\b(?:я )?(?:больше )?не (?:ем|пью|курю)\b|\bбросил[а]? (?:пить|курить|есть)"),
    _row("ru", "preference", 0.6, r"\b(?:я )(?:\w+ ){0,3}?(?:люблю|обожаю|предпочитаю|ненавижу)\b|^(?:не )?(?:люблю|"
         r"предпочитаю)|"
         r"\bмне (?:\w+ ){0,2}?(?:нравится|нравятся)\b|\bмо[йяёе] любим\w+"),
    _row("ru", "relation", 0.7, r"\bу меня (?:есть )?(?:\w+ ){0,2}(?:сын|доч|дет|жен|муж|брат|сестр|собак|кошк|кот)|"
         r"\bмо(?:й|я|и|его|ю) "
         r"(?:сын|дочь|дочк[аи]|жена|муж|мам[аы]|пап[аы]|брат|сестра|дети|собака|кошка|кот)\b.{3,}|\bя (?:замужем|"
         r"женат|разведен)"),
    _row("ru", "work identity plan", 0.6, r"\bя (?:\w+ )?(?:работаю|учусь|родил(?:ся|ась)|решил[аи]?|говорю по|"
         r"планирую|собираюсь|"
         r"учу)\b|\bмне \d+ (?:лет|год)|\bмой день рождения"),
    # Ukrainian, Polish, Turkish
    _row("uk", "identity place preference", 0.7, r"\bмене звати\b|\bя (?:\w+ )?(?:живу|переїха|працюю|люблю|"
         r"віддаю перевагу|не їм|"
         r"вирішив|вирішила)\b|\bмені подоба"),
    _row("pl", "identity place preference", 0.7, r"\b(?:mam na imię|nazywam się|mieszkam (?:w|na)|"
         r"przeprowadził[ae]?m się|pracuję "
         r"(?:w|jako)|(?:nie )?lubię|uwielbiam|wolę|nie jem|nie piję|jestem (?:uczulon|wegetarian|wegan|z ))"),
    _row("tr", "identity place preference", 0.7, r"\b(?:benim adım|adım \w|\w+['’]?[dt][ae] yaşıyorum|taşındım|"
         r"çalışıyorum|"
         r"(?:çok )?severim|seviyorum|sevmiyorum|et yemiyorum|alerjim var|tercih ederim|vejetaryenim)"),
    # Japanese
    _row("ja", "identity", 0.9, r"(?:名前は|私は|僕は)(?P<value>[^\s、。は]{1,20}?)(?:といいます|と申します|"
         r"と言います)", "name"),
    _row("ja", "identity", 0.9, r"名前は(?P<value>[^\s、。は]{1,20}?)です(?!か)", "name"),
    _row("ja", "place", 0.8, rf"{_JAPANESE}(?:に|へ)(?:引っ越し|引越し|移住し|住んで|住みはじめ|住み始め|"
         rf"転居し)", "residence"),
    _row("ja", "health diet", 0.9, r"アレルギー(?:が|です|持ち)|ベジタリアン|ヴィーガン|菜食|(?:食べ|飲め|飲み|"
         r"吸い)(?:られ)?(?:ません|ない)"
         r"(?!か)|糖尿病|妊娠して"),
    _row("ja", "preference", 0.6, r"(?:が|は|のほうが|の方が)(?:大|とても|一番)?(?:好き|嫌い|苦手|好み)(?!ですか|"
         r"か)|好きではありません|"
         r"(?:にして|は避けて)(?:います|ください)"),
    _row("ja", "work relation plan", 0.7, r"(?:で|として)働(?:いて|き)|に勤めて|(?:会社員|看護師|教師|医師|学生|"
         r"エンジニア)です|"
         r"(?:妻|夫|息子|娘|母|父|姉|妹|兄|弟|犬|猫|家族)(?:は|が|の).{2,}(?:です|ます|した)|ことにしました|(?:予定|"
         r"つもり)です|"
         r"(?:歳|才)です|を習って|を勉強して"),
    # Chinese
    _row("zh", "identity", 0.9, r"我(?:的名字)?(?:叫|是叫)(?P<value>[\w·]{2,12})", "name"),
    _row("zh", "place", 0.8, r"我(?:们|們)?(?:\w{0,8}?)(?:住在|搬到了?|搬去了?|搬家到)(?P<value>\w{2,3}?)(?=$|"
         r"[，。,.!！了的市]|\w)",
         "residence"),
    _row("zh", "health diet", 0.9, r"我.{0,6}?(?:过敏|過敏|不吃|不喝|不抽烟|吃素|素食|乳糖不耐|有糖尿病|怀孕)"),
    _row("zh", "preference", 0.6, r"我.{0,4}?(?:喜欢|喜歡|最爱|讨厌|討厭|偏爱|更愿意)"),
    _row("zh", "work relation plan", 0.7, r"我.{0,10}?(?:工作|上班|上学|读书)|我(?:是|当)(?:一名|一个|"
         r"个)?\w{2,8}(?:师|员|生|医生|人)|"
         r"我(?:的)?(?:"
         r"妻子|老婆|丈夫|老公|儿子|女儿|妈妈|爸爸|狗|猫|姐姐|妹妹|哥哥|弟弟).{2,}|我有(?:一|两|三)(?:个|只|条)\w+|"
         r"我(?:决定|打算|计划|会说|今年\d+岁)"),
    # Korean
    _row("ko", "identity place preference", 0.7, r"(?:제|내) 이름은|(?:에|에서) (?:살아요|살고|삽니다|산다|일해요|"
         r"일하고|일합니다)|이사(?:했|갔)|"
         r"(?:좋아|싫어)(?:해요|합니다|해)(?!\?)|알레르기|채식|(?:안|못) (?:먹|마시)|(?:기로) 했"),
    # Arabic
    _row("ar", "identity", 0.9, r"(?:^|\s)(?:اسمي|أنا اسمي)\s+(?P<value>\w+)", "name"),
    _row("ar", "place", 0.8, r"(?:^|[\s،و])(?:أعيش|أسكن|نسكن|نعيش|انتقلت|انتقلنا|أقيم)(?=\s)(?:\s+(?:الآن|حاليا|"
         r"حالياً|مع عائلتي|للعيش|"
         r"مؤخرا|مؤخراً))*\s+(?:في|إلى|الى)\s+(?:مدينة\s+)?(?P<value>\w+)", "residence"),
    _row("ar", "health diet", 0.9, r"(?:^|[\s،و])(?:لدي حساسية|عندي حساسية|أعاني من|لا آكل|لا أشرب|لا أدخن|"
         r"أنا نباتي|مصاب)"),
    _row("ar", "preference", 0.6, r"(?:^|[\s،و])(?:أحب|أفضل|أفضّل|أكره|لا أحب|يعجبني|تعجبني)\s"),
    _row("ar", "work relation plan", 0.7, r"(?:^|[\s،و])(?:أعمل|أدرس|قررت|أخطط|أتحدث|عمري|زوجتي|زوجي|ابني|ابنتي|"
         r"أختي|أخي|أمي|والدتي|والدي|"
         r"لدي (?:ابن|طفل|قط|كلب)|عندي (?:ابن|طفل|قط|كلب))\s"),
    # Hindi
    _row("hi", "identity", 0.9, r"मेरा नाम\s+(?P<value>\S+)", "name"),
    _row("hi", "place", 0.8, r"(?:मैं|हम)(?:\s\S+){0,3}?\s(?P<value>\S+) (?:में (?:रहता|रहती|रहते)|(?:चला|चली|शिफ्ट))",
         "residence"),
    _row("hi", "health diet", 0.9, r"एलर्जी|शाकाहारी|मैं .{1,60}(?:नहीं खात|नहीं पीत)"),
    _row("hi", "preference", 0.6, r"मुझे .{1,60}पसंद"),
    _row("hi", "work relation", 0.7, r"मैं .{1,60}(?:काम करत|पढ़त|फैसला)|मेर[ीाे] (?:पत्नी|पति|बेटा|बेटी|माँ|पिता|"
         r"भाई|बहन|कुत्ता|बिल्ली) .+"),
    # Vietnamese
    _row("vi", "identity", 0.9, rf"\b(?:tên (?:tôi|mình|em) là|(?:tôi|mình|em) tên(?: là)?)\s+{_NAME}", "name"),
    _row("vi", "place", 0.8, rf"\b(?:tôi|mình|em|gia đình tôi|chúng tôi)\b.{{0,30}}?\b(?:sống|ở|chuyển|"
         rf"dọn)\b(?:\s(?:nhà|hẳn))?\s(?:ở|tại|"
         rf"đến|vào|ra|về|lên|sang)?\s*{_PLACE}", "residence"),
    _row("vi", "health diet", 0.9, r"\b(?:tôi|mình|em)\b.{0,15}?\b(?:bị dị ứng|dị ứng|ăn chay|không ăn|không uống|"
         r"không hút|bị tiểu đường|"
         r"bị hen)"),
    _row("vi", "preference", 0.6, r"\b(?:tôi|mình|em)\b.{0,12}?\b(?:thích|yêu|ghét|ưa)\b"),
    _row("vi", "work relation plan", 0.7, r"\b(?:tôi|mình|em)\b.{0,12}?\b(?:làm (?:việc|nghề|kỹ sư|giáo viên|ở|cho|"
         r"bác sĩ)|học|quyết định|dự "
         r"định|nói được|có (?:một|hai|ba) (?:con|đứa|chú))|\b(?:vợ|chồng|con trai|con gái|mẹ|bố|chị|em gái|"
         r"anh trai) (?:tôi|mình|em)\b.{3,}"),
    # Indonesian, Dutch
    _row("id", "identity place preference", 0.7, r"\b(?:nama saya|saya (?:tinggal di|pindah ke|bekerja|suka|"
         r"tidak suka|tidak makan|alergi|"
         r"lebih suka|vegetarian))\b"),
    _row("nl", "identity place preference", 0.7, r"\b(?:ik heet|mijn naam is|ik woon in|ik ben verhuisd|"
         r"ik werk (?:bij|als)|ik hou (?:niet )?van|"
         r"ik eet geen|ik ben (?:allergisch|vegetari[eë]r|veganist)|ik heb besloten)\b"),
)  # fmt: skip


_LATIN = frozenset({"es", "fr", "de", "pt", "it", "pl", "tr", "id", "nl", "vi"})
_LATIN_RULES = tuple(row for row in LANGUAGE_RULES if row.language in _LATIN)
_OTHER_RULES = tuple(row for row in LANGUAGE_RULES if row.language not in _LATIN)
_ENGLISH = re.compile(r"\b(?:the|i|my|and|you|your|it|are|have|this|that)\b", re.IGNORECASE)
_OTHER_SCRIPT = re.compile(r"[\u0370-\u1dff\u3040-\uffef]")


def match_language(sentence: str) -> tuple[LanguageRule, re.Match[str]] | None:
    """The first row whose pattern is in the sentence, and where."""
    composed = unicodedata.normalize("NFC", sentence)
    for row in _rows_for(composed):
        if found := row.pattern.search(composed):
            return row, found
    return None


def _rows_for(text: str) -> tuple[LanguageRule, ...]:
    if _OTHER_SCRIPT.search(text):
        return _OTHER_RULES
    # Only for speed: most sentences are English, and no row is.
    return () if _ENGLISH.search(text) else _LATIN_RULES
