"""API pages: the library's public names with signatures and docstrings, read from the source without imports."""

from __future__ import annotations

import ast
import functools
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).parents[1]  # of the library
WIDE = 100  # a longer signature has a line for each argument
CONTRACTS = ("defense", "attack", "model", "protocol")
GAMES = ("vertical", "split", "split_server", "federated")
PAGES = {  # page -> its packages, whose __init__ lists their names, and modules
    "polytope": ["polytope"],
    "gradient_noise": ["gradient_noise"],
    "pareto": ["pareto"],
    "information": ["information"],
    "metrics": [
        f"metrics/{name}"
        for name in (
            "leakage",
            "exposure",
            "attributes",
            "utility",
            "reconstruction",
            "divergence",
            "calibration",
            "audit",
            "beyond",
            "prior",
            "oracles",
        )
    ],
    "theory": [f"theory/{name}" for name in ("chebyshev", "marvell", "secdt", "tcpo", "tappfl", "accounting", "audit")],
    "games": [
        *(f"games/base/{name}" for name in ("protocol", "defense", "attack", "model", "party")),
        "core/transcript",
    ],
    **{name: [f"games/{name}/{contract}" for contract in CONTRACTS] for name in GAMES},
}
TITLES = {"games": "what all games share"} | {name: f"the {name} game" for name in GAMES}

TEXTS = {"metrics": "How good a guess is: numbers of a guess and the truth."}  # of packages that say nothing themselves

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Field:
    """A field of a class, with the comment behind it, which has shapes and units."""

    name: str
    type: str
    default: str
    comment: str


@dataclass(frozen=True)
class Name:
    """A documented name: a function, a class, or one of its methods."""

    name: str
    signature: str
    text: str
    place: str = ""  # file and line
    fields: tuple[Field, ...] = ()
    methods: tuple[Name, ...] = ()


@dataclass(frozen=True)
class Module:
    """A documented module with its public names."""

    name: str  # as it is imported
    text: str
    names: tuple[Name, ...]
    types: tuple[tuple[str, str], ...] = ()  # type aliases of the signatures, and their definitions


@dataclass(frozen=True)
class Page:
    """An API page: the modules under one title."""

    name: str
    title: str
    text: str  # of a package
    modules: tuple[Module, ...]

    @property
    def summary(self) -> str:
        """First paragraph of the page's package or module docstring."""
        return (self.text or self.modules[0].text).split("\n\n")[0].replace("\n", " ")


def pages() -> Iterator[Page]:
    """All API pages, in order."""
    for name, parts in PAGES.items():
        modules = tuple(_passed_on(part) if (ROOT / part).is_dir() else _module(part) for part in parts)
        yield Page(name, TITLES.get(name, name), TEXTS.get(name) or _of_package(parts), modules)


@functools.cache
def files() -> tuple[Path, ...]:
    """Source files of all API pages."""
    found = set()
    for part in (part for parts in PAGES.values() for part in parts):
        own = ROOT / part
        found |= {*own.glob("*.py")} if own.is_dir() else {own.with_suffix(".py"), own.parent / "__init__.py"}
    return tuple(sorted(found))


def _of_package(parts: list[str]) -> str:
    """Docstring of a package, or of the package that several modules share."""
    if (ROOT / parts[0]).is_dir():
        return _documented(ROOT / parts[0] / "__init__.py")
    return _documented((ROOT / parts[0]).parent / "__init__.py") if len(parts) > 1 else ""


def _documented(file: Path) -> str:
    return ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""


def _passed_on(package: str) -> Module:
    """The names that a package's __init__ re-exports, as one module."""
    names: list[Name] = []
    types: set[tuple[str, str]] = set()
    for node in ast.parse((ROOT / package / "__init__.py").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            own = _module(node.module.partition(".")[2].replace(".", "/"), {alias.name for alias in node.names})
            names, types = [*names, *own.names], types | {*own.types}
    return Module(f"{ROOT.name}.{package}", "", tuple(names), tuple(sorted(types)))


def _module(part: str, wanted: set[str] | None = None) -> Module:
    """A module with its names: those in `wanted`, or all public ones."""
    file = (ROOT / part).with_suffix(".py")
    source = file.read_text(encoding="utf-8")
    tree, comments = ast.parse(source), _comments(source)
    names = []
    for node in tree.body:
        if isinstance(node, ast.ClassDef | Function) and _public(node.name, wanted):
            name = _class(node, comments) if isinstance(node, ast.ClassDef) else _function(node)
            names.append(replace(name, place=f"{file.relative_to(ROOT.parents[1])}, line {node.lineno}"))
    types = tuple(_types(tree, names))
    return Module(f"{ROOT.name}.{part.replace('/', '.')}", ast.get_docstring(tree) or "", tuple(names), types)


def _types(tree: ast.Module, names: list[Name]) -> Iterator[tuple[str, str]]:
    """Type aliases in the signatures, of this module and of other documented ones, with their definitions."""
    known = dict(_short(tree))
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"{ROOT.name}."):
            file = (ROOT.parent / str(node.module).replace(".", "/")).with_suffix(".py")
            theirs = dict(_short(ast.parse(file.read_text(encoding="utf-8")))) if file in files() else {}
            known |= {alias.name: theirs[alias.name] for alias in node.names if alias.name in theirs}
    shown = " ".join(one.signature for name in names for one in (name, *name.methods))
    yield from ((name, known[name]) for name in sorted(known) if re.search(rf"\b{name}\b", shown))


def _short(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Type aliases of a module, such as Pair = tuple[float, float]."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Subscript | ast.BinOp):
            yield from ((target.id, ast.unparse(node.value)) for target in node.targets if isinstance(target, ast.Name))


def _public(name: str, wanted: set[str] | None) -> bool:
    return name in wanted if wanted else not name.startswith("_")


def _class(node: ast.ClassDef, comments: dict[int, str]) -> Name:
    bases = ", ".join(ast.unparse(base) for base in node.bases)
    methods = [own for own in node.body if isinstance(own, Function)]
    start = next((own for own in methods if own.name == "__init__"), None)
    head = f"class {node.name}({bases})" if bases else f"class {node.name}"
    signature = head if start is None else f"{head}\n{_signature(start, node.name, '')}"
    return Name(
        node.name,
        signature,
        ast.get_docstring(node) or "",
        fields=tuple(_field(own, comments) for own in node.body if isinstance(own, ast.AnnAssign) and _is_public(own)),
        methods=tuple(_function(own) for own in methods if not own.name.startswith("_")),
    )


def _is_public(field: ast.AnnAssign) -> bool:
    return not ast.unparse(field.target).startswith("_")


def _field(node: ast.AnnAssign, comments: dict[int, str]) -> Field:
    default = ast.unparse(node.value) if node.value else ""
    comment = comments.get(node.end_lineno or node.lineno, "")
    return Field(ast.unparse(node.target), ast.unparse(node.annotation), default, comment)


def _function(node: Function) -> Name:
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    if any(isinstance(own, ast.Name) and own.id == "property" for own in node.decorator_list):
        signature = f"{node.name}{returns}"
    else:
        signature = _signature(node, node.name, returns)
    return Name(node.name, signature, ast.get_docstring(node) or "")


def _signature(node: Function, name: str, returns: str) -> str:
    """A signature on one line, or with a line for each argument."""
    arguments = [one for one in _arguments(node.args) if one not in ("self", "cls")]
    whole = f"{name}({', '.join(arguments)}){returns}"
    if len(whole) <= WIDE:
        return whole
    return "\n".join([f"{name}(", *(f"    {one}," for one in arguments), f"){returns}"])


def _arguments(given: ast.arguments) -> Iterator[str]:
    plain = [*given.posonlyargs, *given.args]
    defaults: list[ast.expr | None] = [None] * (len(plain) - len(given.defaults)) + [*given.defaults]
    for place, (one, default) in enumerate(zip(plain, defaults, strict=True), start=1):
        yield _argument(one, default)
        if place == len(given.posonlyargs):
            yield "/"
    if given.vararg or given.kwonlyargs:
        yield f"*{_argument(given.vararg, None)}" if given.vararg else "*"
    for one, default in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        yield _argument(one, default)
    if given.kwarg:
        yield f"**{_argument(given.kwarg, None)}"


def _argument(one: ast.arg, default: ast.expr | None) -> str:
    text = ast.unparse(one)
    return text if default is None else f"{text} = {ast.unparse(default)}"


def _comments(source: str) -> dict[int, str]:
    """Comments by line number."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    found = {token.start[0]: token.string.lstrip("# ") for token in tokens if token.type == tokenize.COMMENT}
    return {line: text for line, text in found.items() if not text.startswith(("fmt:", "type:"))}
