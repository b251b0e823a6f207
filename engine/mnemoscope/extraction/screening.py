"""What must never become a memory, or is no statement at all: secrets, instructions, questions, suppositions."""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

__all__ = ["is_joke", "is_question", "is_supposition", "looks_like_instruction", "looks_like_secret", "screen"]


_SECRET_WORD = re.compile(
    r"\b(?:pass(?:word|code|phrase)s?|pwd|passwd|api[ _-]?keys?|secret(?:[ _-]?key)?s?|access[ _-]?tokens?|"
    r"auth[ _-]?tokens?|"
    r"bearer|private key|seed phrase|recovery (?:code|phrase)|security (?:code|answer|question)|cvv|cvc|pin[ -](?:code|"
    r"number|is)|one[- ]time (?:code|password)|otp|2fa|(?:credit|debit|bank) ?card (?:number|no)|card number|iban|"
    r"(?:bank )?account number|routing number|social security|ssn|contraseñas?|clave (?:de acceso|secreta)|"
    r"mot de passe|"
    r"code secret|passwort|kennwort|geheimzahl|senha|пароль|пароля|паролем|пин-?код|mật khẩu|parola d['’]accesso|"
    r"wachtwoord|"
    r"hasło|şifre)\b|\bPIN\b|パスワード|暗証番号|密码|密碼|口令|비밀번호|كلمة (?:المرور|السر)|الرقم السري|पासवर्ड",
    re.IGNORECASE,
)
_SECRET_VALUE = re.compile(
    r"\b(?:sk|pk|rk)[-_](?:live[-_]|test[-_]|proj[-_]|ant[-_])?[\w-]{12,}|\bgh[pousr]_\w{20,}|\bgithub_pat_\w{20,}|"
    r"\bAKIA[0-9A-Z]{12,}|\bxox[abprs]-[\w-]{10,}|\bAIza[\w-]{20,}|\bglpat-[\w-]{10,}|\beyJ[\w-]{10,}\.[\w-]{5,}|"
    r"-----BEGIN|\b[a-z][\w+.-]*://[^\s/:@]+:[^\s/@]+@|\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}\b|\b\d{3}-\d{2}-\d{4}\b|"
    r"\b[0-9a-f]{32,}\b"
)
_LONG_NUMBER = re.compile(r"(?<!\d)\d(?:[ .-]?\d){12,18}(?!\d)")
_PIN = re.compile(r"\bpin\b[^.]{0,20}\d{4}", re.IGNORECASE)
_RANDOM_WORD = re.compile(r"(?<![\w/])(?=[\w+/=-]*\d)(?=[\w+/=-]*[a-z])(?=[\w+/=-]*[A-Z])[\w+/=-]{24,}(?![\w/])")

_INSTRUCTION = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass|discard)\b.{0,40}\b(?:previous|prior|above|earlier|preceding|all|"
    r"any|your|"
    r"these|those)\b.{0,40}\b(?:instructions?|prompts?|rules?|messages?|guidelines?|directions?|context)\b"
    r"|\b(?:delete|erase|wipe|clear|remove|purge|destroy|forget|overwrite|drop)\b.{0,30}\b(?:all|every|everything|"
    r"entire|whole|"
    r"any)\b.{0,30}\b(?:memor(?:y|ies)|records?|data(?:base)?|facts?|history|users?|you know)\b"
    r"|\b(?:system|developer) (?:prompt|message|override|mode)\b|\byou are now (?:an?|the|in|my|going|free|"
    r"called)\b|\bnew instructions?\b"
    r"|\b(?:remember|note|keep in mind|don['’]t forget)(?: that)? (?:you (?:must|should|have to|need to|are|will|"
    r"can|may)|from "
    r"now on you)\b|\bfrom now on,? you (?:must|will|should|are)\b|\b(?:pretend|act) (?:to be|as if|as an?|"
    r"like an?) (?:\w+ )?"
    r"(?:admin\w*|root|system|developer|assistant|ai|dan)\b|\bjailbreak\b|\b(?:reveal|print|show|"
    r"repeat) (?:me )?your (?:"
    r"system|hidden|initial|instructions?|prompt)\b"
    r"|</?(?:system|assistant|user|instructions?|memory|memories)>|\[/?INST\]|<\|\w+\|>|^\s*#{0,3}\s*system\s*:"
    r"|\b(?:save|store|insert|add|write|record)\b.{0,30}\b(?:to|in|into|as)\b.{0,15}\b(?:memory|memories|"
    r"your memory|database)\b"
    r"|\bignor(?:a|e[sz]?|iere?n?)\b.{0,40}\b(?:instrucciones|instructions|instruções|istruzioni|anweisungen)\b"
    r"|(?:игнорируй|забудь).{0,40}(?:инструкци|указани)|удали.{0,20}(?:все|всю).{0,20}(?:воспоминани|памят|данн)"
    r"|(?:忽略|无视|無視).{0,20}(?:指令|指示|说明|提示)|(?:指示|命令|指令).{0,10}無視|(?:删除|清除)(?:所有|"
    r"全部).{0,6}(?:记忆|数据)"
    r"|(?:記憶|メモリ).{0,8}(?:すべて|全部|全て)?.{0,4}(?:削除|消去)|bỏ qua.{0,30}(?:chỉ dẫn|hướng dẫn|lệnh)|"
    r"xóa (?:tất cả|mọi|hết)"
    r"|تجاهل.{0,30}(?:التعليمات|الأوامر)|احذف (?:كل|جميع)",
    re.IGNORECASE,
)

_QUESTION_MARK = re.compile(r"[?？؟⸮՞፧⁇⁈⁉‽][\"'”’」』)»\s!！]*$")
_ASKS = re.compile(
    r"^(?:(?:so|and|but|ok|okay|hey|hi|well|also|ada|oh|then|or)[,\s]+)*"
    r"(?:what|where|when|why|who|whom|whose|which|how|can|could|would|will|do|does|did|is|are|was|were|am|have|has|"
    r"had|should|"
    r"shall|may|might|won['’]t|can['’]t|don['’]t (?:i|you|we)|isn['’]t|aren['’]t|any (?:idea|chance|thoughts|"
    r"suggestions)|"
    r"tell me|remind me|show me|(?:i )?wonder(?:ing)?|guess)\b(?!['’])",
    re.IGNORECASE,
)
_ASKS_ELSEWHERE = re.compile(r"(?:か|吗|嗎|呢|까요?)[。.\s]*$|^(?:هل|كيف|ماذا|أين|क्या|¿)")
_GREEK_QUESTION = re.compile(r"[\u0370-\u03ff\u1f00-\u1fff][^;]*[;\u037e]$")

_SUPPOSITION = re.compile(
    r"^\W*(?:\w+,? )?(?:what )?if (?:i|we|my)\b(?!['’]?m not mistaken)|\bif (?:i|we) (?:were|was|had|lived|could|"
    r"won|ever|only|moved)\b|"
    r"^\W*(?:suppose|imagine|let['’]s say|say i|pretend|hypothetically)\b|\b(?:i|we)(?:['’]d| would| might| may|"
    r" could)\b"
    r"(?! (?:rather|prefer|like you to|always|never))|\bi wish\b|\b(?:maybe|perhaps) (?:i|we)\b|^\W*(?:si (?:j['’]|"
    r"yo|je)|wenn ich|"
    r"falls ich|se eu|если бы|nếu (?:tôi|mình|em)|لو (?:كنت|أن)|अगर मैं|もし|如果我|要是我|假如|만약)|\bбы\b|"
    r"\bich (?:würde|hätte|wäre)\b|\b(?:me gustaría|j['’]aimerais|je voudrais|quisiera|eu gostaria)\b",
    re.IGNORECASE,
)
_JOKE = re.compile(
    r"\b(?:just kidding|only kidding|jk|only joking|just joking|i['’]m joking|i['’]m kidding|not really,? lol)\b",
    re.IGNORECASE,
)


def screen(text: str) -> Literal["secret", "instruction"] | None:
    """Why a text that a model wrote must not be stored, whatever way it comes in; None where it may.

    The one gate: what extractors propose, what a judge rewords, and what an agent's tools are given all pass it.
    """
    if looks_like_secret(text):
        return "secret"
    return "instruction" if looks_like_instruction(text) else None


def looks_like_secret(sentence: str) -> bool:
    """Whether the sentence speaks of or holds a password, key, card or account number, in any of many languages."""
    plain = unicodedata.normalize("NFKC", sentence)
    if any(pattern.search(plain) for pattern in (_SECRET_WORD, _SECRET_VALUE, _PIN, _RANDOM_WORD)):
        return True
    return any(_is_card_number(found.group()) for found in _LONG_NUMBER.finditer(plain))


def looks_like_instruction(sentence: str) -> bool:
    """Whether the sentence tries to steer the agent or its memory rather than to say something."""
    return bool(_INSTRUCTION.search(unicodedata.normalize("NFKC", sentence)))


def is_question(sentence: str) -> bool:
    """Whether it ends in a question mark of any script, or asks without one."""
    return bool(
        _QUESTION_MARK.search(sentence)
        or _ASKS.match(sentence)
        or _ASKS_ELSEWHERE.search(sentence)
        or _GREEK_QUESTION.search(sentence)
    )


def is_supposition(clause: str) -> bool:
    """Whether it says what would or might be, not what is."""
    return bool(_SUPPOSITION.search(clause))


def is_joke(sentence: str) -> bool:
    """Whether the writer takes back what was just said as a joke."""
    return bool(_JOKE.search(sentence))


def _is_card_number(text: str) -> bool:
    digits = [int(each) for each in text if each.isdigit()]
    doubled = [digit if at % 2 == 0 else digit * 2 - 9 * (digit > 4) for at, digit in enumerate(reversed(digits))]
    return sum(doubled) % 10 == 0
