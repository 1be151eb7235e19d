"""One spelling of texts that mean the same: of terms, of subsets, and of fits that are asked for again."""

import ast
import keyword
from contextlib import suppress

from dpstats.errors import FormulaError
from dpstats.formula.reader import function_name, parse, variable_name
from dpstats.schema import Event, Flag, Schema


class _Meaning(ast.NodeTransformer):
    """Names without ``Q()``, functions without ``np.``, an entry in its place, and flags without ``== 1``."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema

    def visit_Call(self, call: ast.Call) -> ast.AST:  # noqa: N802 - a name of `ast`
        self.generic_visit(call)
        if (name := variable_name(call)) is not None:
            return ast.Name(name) if name.isidentifier() and not keyword.iskeyword(name) else call
        call.func = ast.Name(function_name(call))
        if call.func.id == "Surv" and len(call.args) == 2 and [one.arg for one in call.keywords] == ["entry"]:
            call.args, call.keywords = [call.keywords[0].value, *call.args], []
        return call

    def visit_Compare(self, compared: ast.Compare) -> ast.AST:  # noqa: N802
        self.generic_visit(compared)
        match compared:
            case ast.Compare(flag, [ast.Eq() | ast.NotEq() as sign], [ast.Constant(0 | 1 as code)]):
                if isinstance(self._schema.get(variable_name(flag) or ""), Flag | Event):
                    return flag if isinstance(sign, ast.Eq) == code else ast.UnaryOp(ast.Not(), flag)
        return compared


def spelt(text: str, schema: Schema) -> str:
    """An expression or a condition in one spelling, if it is one."""
    with suppress(FormulaError):
        return ast.unparse(_Meaning(schema).visit(parse(text.strip())))
    return text
