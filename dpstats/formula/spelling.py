"""One spelling of texts that mean the same: of terms, of subsets, and of fits that are asked for again."""

import ast
import keyword
from contextlib import suppress
from itertools import chain

from dpstats.errors import FormulaError
from dpstats.formula.reader import function_name, parse, variable_name
from dpstats.formula.response import written_once
from dpstats.schema import Event, Flag, Schema

_TURNED = {
    **{ast.Eq: ast.Eq, ast.NotEq: ast.NotEq},
    **{ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE},
}
_AND, _OR = ast.And(), ast.Or()
_JOINED = {ast.And: _AND, ast.BitAnd: _AND, ast.Or: _OR, ast.BitOr: _OR}


def _constant(side: ast.expr) -> bool:
    """Whether it is a text or a number, with its sign."""
    return isinstance(side.operand if isinstance(side, ast.UnaryOp) else side, ast.Constant)


class _Meaning(ast.NodeTransformer):
    """Names without ``Q()``, functions without ``np.``, ``Surv`` by places, and conditions in one form.

    A constant stands right of a comparison, a flag without ``== 1``, and conditions that ``and`` or ``or``
    joins, which may be written ``&`` and ``|``, in the order of their texts.
    """

    def __init__(self, schema: Schema) -> None:
        self._schema = schema

    def visit_Call(self, call: ast.Call) -> ast.AST:  # noqa: N802 - a name of `ast`
        self.generic_visit(call)
        if (name := variable_name(call)) is not None:
            return ast.Name(name) if name.isidentifier() and not keyword.iskeyword(name) else call
        call.func = ast.Name(function_name(call))
        return written_once(call) if call.func.id == "Surv" else call

    def visit_Compare(self, compared: ast.Compare) -> ast.AST:  # noqa: N802
        self.generic_visit(compared)
        match compared:
            case ast.Compare(left, [sign], [right]) if (
                _constant(left) > _constant(right) and type(sign) in _TURNED
            ):
                return self.visit_Compare(ast.Compare(right, [_TURNED[type(sign)]()], [left]))
            case ast.Compare(flag, [ast.Eq() | ast.NotEq() as sign], [ast.Constant(0 | 1 as code)]):
                if isinstance(self._schema.get(variable_name(flag) or ""), Flag | Event):
                    return flag if isinstance(sign, ast.Eq) == code else ast.UnaryOp(ast.Not(), flag)
        return compared

    def visit_BoolOp(self, node: ast.BoolOp | ast.BinOp) -> ast.AST:  # noqa: N802
        self.generic_visit(node)
        parts = node.values if isinstance(node, ast.BoolOp) else [node.left, node.right]
        op = _JOINED.get(type(node.op))
        if op is None or not all(map(self._condition, parts)):
            return node
        same = (one.values if isinstance(one, ast.BoolOp) and one.op is op else [one] for one in parts)
        return ast.BoolOp(op, sorted(chain.from_iterable(same), key=ast.unparse))

    visit_BinOp = visit_BoolOp  # noqa: N815

    def _condition(self, part: ast.expr) -> bool:
        if isinstance(part, ast.UnaryOp):
            return isinstance(part.op, ast.Not)
        flag = isinstance(self._schema.get(variable_name(part) or ""), Flag | Event)
        return flag or isinstance(part, ast.Compare | ast.BoolOp)


def spelt(text: str, schema: Schema) -> str:
    """An expression or a condition in one spelling, if it is one."""
    with suppress(FormulaError):
        return ast.unparse(_Meaning(schema).visit(parse(text.strip())))
    return text
