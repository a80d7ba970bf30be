"""Functions that came after the format of workbooks: how files name them, and how people do."""

from __future__ import annotations

import re

from openpyxl.formula.tokenizer import Token, Tokenizer, TokenizerError

_NEWER = frozenset(
    """
    ACOT ACOTH ARABIC ARRAYTOTEXT BASE BETA.DIST BETA.INV BINOM.DIST BINOM.DIST.RANGE BINOM.INV BITAND
    BITLSHIFT BITOR BITRSHIFT BITXOR BYCOL BYROW CEILING.MATH CEILING.PRECISE CHISQ.DIST CHISQ.DIST.RT
    CHISQ.INV CHISQ.INV.RT CHISQ.TEST CHOOSECOLS CHOOSEROWS COMBINA CONCAT CONFIDENCE.NORM CONFIDENCE.T
    COT COTH COVARIANCE.P COVARIANCE.S CSC CSCH DAYS DECIMAL DROP ERF.PRECISE ERFC.PRECISE EXPAND
    EXPON.DIST F.DIST F.DIST.RT F.INV F.INV.RT F.TEST FILTERXML FLOOR.MATH FLOOR.PRECISE FORECAST.ETS
    FORECAST.ETS.CONFINT FORECAST.ETS.SEASONALITY FORECAST.ETS.STAT FORECAST.LINEAR FORMULATEXT GAMMA
    GAMMA.DIST GAMMA.INV GAMMALN.PRECISE GAUSS HSTACK HYPGEOM.DIST IFNA IFS IMCOSH IMCOT IMCSC IMCSCH
    IMSEC IMSECH IMSINH IMTAN ISFORMULA ISOMITTED ISOWEEKNUM LAMBDA LET LOGNORM.DIST LOGNORM.INV
    MAKEARRAY MAP MAXIFS MINIFS MODE.MULT MODE.SNGL MUNIT NEGBINOM.DIST NORM.DIST NORM.INV NORM.S.DIST
    NORM.S.INV NUMBERVALUE PDURATION PERCENTILE.EXC PERCENTILE.INC PERCENTRANK.EXC PERCENTRANK.INC
    PERMUTATIONA PHI POISSON.DIST QUARTILE.EXC QUARTILE.INC RANDARRAY RANK.AVG RANK.EQ REDUCE RRI SCAN
    SEC SECH SEQUENCE SHEET SHEETS SKEW.P SORTBY STDEV.P STDEV.S SWITCH T.DIST T.DIST.2T T.DIST.RT T.INV
    T.INV.2T T.TEST TAKE TEXTAFTER TEXTBEFORE TEXTJOIN TEXTSPLIT TOCOL TOROW UNICHAR UNICODE UNIQUE
    VALUETOTEXT VAR.P VAR.S VSTACK WEIBULL.DIST WRAPCOLS WRAPROWS XLOOKUP XMATCH XOR Z.TEST
    """.split()  # noqa: SIM905 - a list of so many lines is no better
)
"""Functions that came after the format: files name them with a prefix by which programs know them."""
_NEWEST = frozenset(("FILTER", "SORT"))
"""Those with two prefixes."""
_PREFIX = re.compile(r"_xlfn\.(?:_xlws\.)?", re.IGNORECASE)


def as_stored(formula: str) -> str:
    """A formula as files write it: newer functions with the prefix by which programs know them."""
    try:
        tokens = Tokenizer(formula).items
    except (TokenizerError, IndexError, AssertionError):
        return formula  # text that begins with = and is no formula
    return "=" + "".join(_prefixed(token) for token in tokens)


def _prefixed(token: Token) -> str:
    value = str(token.value)
    if token.type == Token.FUNC and token.subtype == Token.OPEN:
        name = value[:-1].upper()
        if name in _NEWER:
            return f"_xlfn.{value}"
        if name in _NEWEST:
            return f"_xlfn._xlws.{value}"
    return value


def as_shown(formula: str) -> str:
    """A formula as people see it, without the prefixes of the file."""
    return _PREFIX.sub("", formula) if "_xl" in formula.lower() else formula
