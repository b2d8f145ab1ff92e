"""Imports point one way: every module of app/ stands on a floor and looks down only."""

import ast
from functools import cache
from pathlib import Path

import pytest

APP = Path(__file__).parent.parent / "app"

#: Floors from the ground up. Packages that share a floor do not import each other.
FLOORS: list[tuple[str, ...]] = [
    ("app.errors", "app.prompt", "app.stops"),
    ("app.settings", "app.generation"),
    ("app.events",),
    ("app.engine", "app.upstream", "app.intake", "app.reply", "app.timeline", "app.replay"),
    ("app.client", "app.rooms", "app.lab", "app.telemetry"),
    ("app.transports", "app.pages"),
    ("app.main",),
    ("app.server",),
    ("app.commands",),
    ("app.cli",),
    ("app.__main__",),
]


@cache
def modules() -> dict[str, Path]:
    return {
        ".".join(path.relative_to(APP.parent).with_suffix("").parts).removesuffix(".__init__"): path
        for path in sorted(APP.rglob("*.py"))
        if "grpc_proto" not in path.parts
    }


@cache
def imports(path: Path) -> set[str]:
    """Modules of ours that are imported at run time, anywhere in the file."""
    tree = ast.parse(path.read_text())
    typing_only: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            typing_only.update(ast.walk(node))
    found = set()
    for node in ast.walk(tree):
        if node in typing_only:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
    return {name for name in found if name == "app" or name.startswith("app.")}


def place(module: str) -> tuple[int, str]:
    """(floor, package) of a module."""
    for floor, packages in enumerate(FLOORS):
        for package in packages:
            if module == package or module.startswith(package + "."):
                return floor, package
    raise AssertionError(f"{module} stands on no floor: add it to FLOORS")


@pytest.mark.parametrize("module", [m for m in modules() if m != "app"])
def test_a_module_imports_only_from_floors_below_or_from_its_own_package(module: str) -> None:
    floor, package = place(module)
    for name in imports(modules()[module]):
        if name not in modules() or name == "app":
            continue
        other_floor, other_package = place(name)
        assert other_floor < floor or other_package == package, f"{module} looks up to {name}"


def test_modules_import_each_other_without_a_cycle() -> None:
    known = modules()
    graph = {m: {i for i in imports(p) if i in known and i != m and i != "app"} for m, p in known.items()}
    done: set[str] = set()

    def visit(module: str, path: tuple[str, ...]) -> None:
        assert module not in path, " -> ".join((*path[path.index(module) :], module))
        if module not in done:
            for name in graph[module]:
                # A package's __init__ may gather its own modules; that is no cycle of ideas.
                if not name.startswith(module + ".") and not module.startswith(name + "."):
                    visit(name, (*path, module))
            done.add(module)

    for module in graph:
        visit(module, ())


def test_the_web_process_never_imports_torch() -> None:
    for module, path in modules().items():
        names = {
            alias.name
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in ([ast.alias(node.module or "")] if isinstance(node, ast.ImportFrom) else node.names)
        }
        if not module.startswith("app.engine"):
            heavy = {n for n in names if n.split(".")[0] in {"torch", "transformers", "numpy"}}
            assert not heavy, f"{module} imports {heavy}"


def test_every_module_opens_by_saying_what_it_does() -> None:
    for module, path in modules().items():
        assert ast.get_docstring(ast.parse(path.read_text())), f"{module} has no docstring"
