"""Calculates what a question asks: "What's 17 * 23?", "12% of 80", "7 divided by 2"."""

import ast
import operator
import re
from fractions import Fraction

ASKED = re.compile(
    r"^\W*(?:(?:so|and|please|calculate|compute|solve|what(?:'s| is)|how much is)\s+)*(.+?)\s*[=?.]*$", re.I
)
WORDS = {
    "multiplied by": "*", "divided by": "/", "plus": "+", "minus": "-", "times": "*", "×": "*", "÷": "/", "−": "-",
    "^": "**",
}  # fmt: skip
PERCENT_OF = re.compile(r"(\d[\d.]*) ?(?:%|percent) of ")
SUM = re.compile(r"[\d.\s()+*/-]{3,60}")
OPERATORS = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
}  # fmt: skip
MAX_BITS = 256  # of a power: a bigger one isn't a question for a chat
MAX_DIGITS = 12  # after the point, before a result is called approximate


def work_out(question: str) -> str | None:
    """The result, such as "17 * 23 = 391."; None: the question isn't a calculation, or has no answer here."""
    asked = ASKED.match(question.strip().replace("’", "'"))
    if asked is None or (asked[1] == question.strip() and not re.search(r" [-+*/x×÷^] ", asked[1])):
        return None
    shown = asked[1]
    plain = re.sub(r"(?<=\d),(?=\d{3})", "", PERCENT_OF.sub(r"\1/100*", shown.lower()))
    plain = re.sub(r"(?<=[\d)]) ?x ?(?=[\d(])", "*", plain)
    for words, sign in WORDS.items():
        plain = plain.replace(words, sign)
    if not SUM.fullmatch(plain) or not re.search(r"\d\D*[-+*/]\D*\d", plain):
        return None
    try:
        result = _value(ast.parse(plain.strip(), mode="eval").body)
    except ZeroDivisionError:
        return f"{shown} has no answer: it divides by zero."
    except (SyntaxError, ValueError):
        return None
    exact = round(result, MAX_DIGITS) == result
    whole = f"{result.numerator:,}" if result.denominator == 1 else f"{float(result):,.{6}f}".rstrip("0")
    return f"{shown} {'=' if exact else '≈'} {whole}."


def _value(node: ast.expr) -> Fraction:
    match node:
        case ast.Constant(value=int() | float() as number):
            return Fraction(str(number))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand)
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            base, power = _value(left), _value(right)
            if power.denominator != 1 or abs(power) * max(base.numerator.bit_length(), 1) > MAX_BITS:
                raise ValueError("too big a power")
            return Fraction(base**power.numerator)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            return Fraction(OPERATORS[type(op)](_value(left), _value(right)))
        case _:
            raise ValueError("no sum")
