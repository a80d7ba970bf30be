"""Syntax of other products, which sqlglot would accept, as it reads all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from sqlglot.tokenizer_core import Token, TokenType

from mesocosm.services.queries.dialect import Dialect

_NAMING = {
    *(TokenType.INTO, TokenType.TABLE, TokenType.VIEW, TokenType.WITH, TokenType.DOT, TokenType.EXISTS),
    *(TokenType.ALIAS, TokenType.R_PAREN, TokenType.REFERENCES),
}
"""Behind which a name with a parenthesis is none of a function."""
_STARTS = {TokenType.L_PAREN, TokenType.SEMICOLON}
_CASTS = {"CAST", "SAFE_CAST", "TRY_CAST"}


@dataclass(frozen=True)
class Foreign:
    """Syntax that a product refuses.

    Attributes:
        tokens: Operators and words.
        pairs: Two words in a row, in capitals; the second is wrong before a bracket or a number.
        functions: Functions, in capitals, that sqlglot takes for others of the product.
        types: Names of types, in capitals, that it takes for others in casts.
    """

    tokens: frozenset[TokenType] = frozenset()
    pairs: frozenset[tuple[str, str]] = frozenset()
    functions: frozenset[str] = frozenset()
    types: frozenset[str] = frozenset()

    def refuse(self, tokens: Sequence[Token], dialect: Dialect) -> None:
        """Refuse a statement that has any of it, as the product words it."""
        piped = any(token.token_type is TokenType.PIPE_GT for token in tokens)
        read = _Read()
        for place, token in enumerate(tokens):
            before = tokens[place - 1] if place else None
            behind = tokens[place + 1].token_type if place + 1 < len(tokens) else None
            leads = before is None or before.token_type in _STARTS
            wrong = token.token_type in self.tokens
            if before is not None and behind in (TokenType.L_PAREN, TokenType.NUMBER):
                wrong = wrong or (before.text.upper(), token.text.upper()) in self.pairs
            if token.token_type is TokenType.PERCENT:
                wrong = before is not None and before.token_type is TokenType.NUMBER
            if wrong or (leads and token.token_type is TokenType.FROM and not piped):
                raise dialect.malformed(token.line, max(1, token.col - len(token.text) + 1), token.text, "")
            is_text = token.token_type in (TokenType.STRING, TokenType.IDENTIFIER)
            called = behind is TokenType.L_PAREN and (before is None or before.token_type not in _NAMING)
            if called and not is_text and token.text.upper() in self.functions:
                raise dialect.unknown_function(token.text)
            if read.is_type(before, token) and token.text.upper() in self.types:
                raise dialect.unknown_type(token.text)


@dataclass
class _Read:
    """State of the bracket matching in a statement."""

    casts: list[bool] = field(default_factory=list)

    def is_type(self, before: Token | None, token: Token) -> bool:
        """True if a type name may stand here."""
        if token.token_type is TokenType.L_PAREN:
            self.casts.append(before is not None and before.text.upper() in _CASTS)
        elif token.token_type is TokenType.R_PAREN and self.casts:
            self.casts.pop()
        if before is None:
            return False
        in_cast = bool(self.casts) and self.casts[-1] and before.token_type is TokenType.ALIAS
        return in_cast or before.token_type is TokenType.DCOLON


def _names(text: str) -> frozenset[str]:
    def each() -> Iterator[str]:
        for line in text.split():
            yield line.upper()

    return frozenset(each())


BIGQUERY = Foreign(
    frozenset({TokenType.DCOLON, TokenType.ILIKE, TokenType.L_BRACE}),
    frozenset({("*", "EXCLUDE"), ("SELECT", "UNNEST"), ("*", "RENAME")}),
    _names(
        """len nvl nvl2 iff try_cast datediff dateadd date_part datepart listagg group_concat
        to_varchar to_char to_number to_date to_timestamp charindex split_part add_months
        months_between monthname dayname year month day hour minute second quarter dayofweek
        dayofyear strftime strptime median list generate_series count_if array_size
        array_contains array_append object_construct concat_ws sha2 unhex position locate
        regexp_like regexp_count regexp_matches arg_max arg_min bool_and bool_or try_to_number
        sysdate getdate now lcase ucase startswith endswith rlike uuid_string zip struct_pack
        read_csv read_parquet read_json"""
    ),
    _names(
        "varchar text char nvarchar number double real float4 float8 int4 int8 hugeint variant blob binary"
    ),
)
SNOWFLAKE = Foreign(
    frozenset(),
    frozenset({("*", "EXCEPT"), ("USING", "SAMPLE")}),
    _names(
        """safe_cast countif array_length generate_series generate_array struct format date_diff
        date_sub timestamp_diff timestamp_add timestamp_sub datetime_diff unix_seconds
        unix_millis parse_date format_date format_timestamp logical_and logical_or safe_divide
        regexp_contains json_value json_query starts_with ends_with to_hex array_concat
        generate_uuid strftime strptime list bool_and bool_or arg_max arg_min struct_pack epoch
        approx_quantiles read_csv read_parquet read_json"""
    ),
    _names("int64 float64 bignumeric bigdecimal bytes hugeint"),
)
