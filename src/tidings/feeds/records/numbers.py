"""Texts that are numbers as a whole, alone or with a currency or unit: `1,299.00`, `US $5`, `12 %`, `85 m²`.

A number inside a sentence (`3 day auction`, `not below 5000`) is not a number. Without a pinned unit only the
currencies and units listed here may stand beside the digits; a mapping's `unit` allows any other word, and no other."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

NO_UNIT = "none"  # pinned, it allows none
LONGEST_NUMBER = 80  # characters, with the currency
_PLAIN = re.compile(r"[+-]?[0-9]{1,15}")
_USUAL = re.compile(  # `$12,300`, `85 km`: what most columns have, read without the steps that the rest needs
    r"[$£€]?(?P<digits>[1-9]\d{0,2}(?:,\d{3})+|\d{1,15})(?P<fraction>\.\d{1,15})?(?P<after> ?(?:[A-Za-z]{1,8}|%))?",
    re.ASCII,
)
_SEPARATED = {  # no thousands follow a lone zero: `0,125` is a decimal comma
    ".": re.compile(r"(?<=\d)(?<!(?<![\d.,])0)[,'’_\s](?=\d{3}(?!\d))"),
    ",": re.compile(r"(?<=\d)(?<!(?<![\d.,])0)[.'’_\s](?=\d{3}(?!\d))"),
}
_DASH = re.compile(r"^(\D*)[\u2010-\u2014](?=[$£€¥]?\.?\d)")  # often written for a minus
_SIZE = re.compile(r"(?:[kKMB]|\s?(?i:bn|millions?|billions?))(?![^\W\d_])")
_DIGITS = re.compile(r"(?P<digits>\d+(?:\.\d+)?|\.\d+)(?P<exponent>[eE][+-]?\d{1,3}(?![\w.]))?")
_FOOTNOTE = re.compile(r"(?<=\d)[\u00b2\u00b3\u00b9\u2070-\u2079]")  # not m²: there a letter precedes it
_CURRENCY = re.compile(r"[A-Z]{0,3}\.?[$£€¥₹₽₺₩₪₴₫₦₱฿]")
_CODES = """
    AED ARS AUD BGN BRL CAD CHF CLP CNY COP CZK DEM DKK EGP EUR GBP HKD HRK HUF IDR ILS INR ISK JPY KRW MXN MYR
    NOK NZD PHP PLN RON RSD RUB SAR SEK SGD THB TRY TWD UAH USD VND ZAR
"""
_UNITS = """
    % ‰ ° °C °F euro euros dollar dollars pound pounds kr zł Kč mm cm dm m km in inch inches ft foot feet yd yard
    yards mi mile miles nm nmi mm2 cm2 m2 km2 ha acre acres sqm sqft ft2 in2 qm mm3 cm3 m3 ft3 l L ml cl dl liter
    liters litre litres gal ccm cc mg g kg t lb lbs oz ton tons tonne tonnes N kN Pa hPa kPa MPa bar mbar psi inHg
    mmHg J kJ MJ cal kcal W kW MW GW Wh kWh MWh GWh V mV kV A mA Ah mAh hp bhp PS Hz kHz MHz GHz ms s sec secs
    second seconds min mins minute minutes h hr hrs hour hours d day days wk week weeks month months yr yrs year
    years ppm ppb dB dpi px mph kmh kph knot knots kn kt kts rpm bit kbit Mbit kB KB MB GB TB KiB MiB GiB lm lx
    mol mmol pH pt pts pcs pc
"""
_KNOWN = frozenset((*_UNITS.split(), *_CODES.split()))
_LOWER = frozenset(unit.lower() for unit in _UNITS.split() if len(unit) > 1)


class NotANumber(ValueError):
    """`fault` is the name under which it is counted."""

    def __init__(self, problem: str, fault: str = "not a number") -> None:
        super().__init__(problem)
        self.fault = fault


def number_in(text: str, decimal: str = ".", units: tuple[str, ...] = ()) -> int | float:
    """`units` are the only ones that may stand beside it; a number without any is taken. Raises NotANumber."""
    if _PLAIN.fullmatch(text):
        return int(text)
    if len(text) > LONGEST_NUMBER:
        raise NotANumber("it is too long")
    usual = _USUAL.fullmatch(text) if decimal == "." else None
    if usual is not None and not _SIZE.match(usual["after"] or ""):
        _check_unit(text[: usual.start("digits")], usual["after"] or "", units)
        whole = usual["digits"].replace(",", "")
        return float(whole + usual["fraction"]) if usual["fraction"] else int(whole)
    if _FOOTNOTE.search(text):
        raise NotANumber("a raised digit follows it")
    plain = unicodedata.normalize("NFKC", text).replace("\u2212", "-").strip()
    plain = _DASH.sub(r"\1-", plain)
    plain = _SEPARATED[decimal].sub("", plain)
    if decimal == ",":
        plain = plain.replace(",", ".")
    found = _DIGITS.search(plain)
    if found is None:
        raise NotANumber("it has no digits")
    before, after = plain[: found.start()], plain[found.end() :]
    if after.strip() == "-" or before.count("(") > before.count(")"):
        raise NotANumber("whether it is below zero is not clear")  # bookkeepers write (5) and 5-
    if size := _SIZE.match(after):
        raise NotANumber(f"{size[0].strip()!r} after it may mean thousands or millions; write the number out")
    sign, before = _signed(before)
    _check_unit(before, after, units)
    digits = found["digits"] + (found["exponent"] or "")
    value = float(digits) if not digits.isdecimal() else int(digits)
    return -value if sign == "-" else value


def unit_in(text: str) -> str:
    """What stands beside the digits, as a mapping's `unit` would say it; empty where nothing does."""
    return re.sub(r"\s+", " ", re.sub(r"[+\-\u2010-\u2014\u2212]?[\d.,'’_\s]*\d", "", text, count=1)).strip(" +-")


def _signed(before: str) -> tuple[str, str]:
    """The sign before the digits, and the rest: `- $` and `$ -` have one, the hyphen of `part-5` is none."""
    if before.startswith(("-", "+")):
        return before[0], before[1:]
    if before.endswith(("-", "+")):
        last = before[:-1][-1:]
        if not last or last.isspace() or unicodedata.category(last) == "Sc":
            return before[-1], before[:-1]
        raise NotANumber("it is a word with digits")
    return "+", before


@lru_cache(maxsize=1_000)  # a column has few
def _check_unit(before: str, after: str, units: tuple[str, ...]) -> None:
    front, back = _squeezed(before), _squeezed(after)
    if not front and not back:
        return
    known = _is_currency(front) if front else all(map(_is_unit, back.split("/")))
    if units:
        if (front + back).lower() not in _pinned(units) - {NO_UNIT}:
            pinned = "no unit" if NO_UNIT in units else " or ".join(units)
            fault = "another unit" if known and not (front and back) else "not a number"
            raise NotANumber(f"it has the unit {(before + after).strip()!r}; expected {pinned}", fault)
    elif not known or (front and back):
        raise NotANumber(f"{(before + '…' + after).strip()!r} is more than a number; `unit` can name a unit")


def _squeezed(text: str) -> str:
    return "".join(text.split())


@lru_cache(maxsize=1_000)
def _pinned(units: tuple[str, ...]) -> frozenset[str]:
    return frozenset(_squeezed(unicodedata.normalize("NFKC", unit)).lower() for unit in units)


def _is_currency(word: str) -> bool:
    return (word in _KNOWN and word.isupper() and len(word) == 3) or bool(_CURRENCY.fullmatch(word))


def _is_unit(word: str) -> bool:
    return word in _KNOWN or word.lower() in _LOWER or _is_currency(word)
