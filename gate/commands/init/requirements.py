"""What a project of Python requires, as its build tool, extras, groups and lists of requirements name it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from configparser import Error as ConfigError
from configparser import RawConfigParser
from contextlib import suppress
from functools import reduce
from typing import Any

from gate.commands.init.tree import Tree, table_of


def pip_words(requirements: Iterable[str]) -> list[str]:
    """Return what pip takes of requirements, each name as it is asked for, without those of some Pythons only."""
    words = [each for each in dict.fromkeys(requirements) if re.fullmatch(r"[\w.\[\],<>=!~ *-]+", each)]
    asked = {normal(each) for each in words if re.search(r"[\[<>=!~]", each)}
    return [each for each in words if normal(each) not in asked or re.search(r"[\[<>=!~]", each)]


def groups(tree: Tree) -> dict[str, list[str]]:
    """Return the requirements of each extra, group and list of requirements for development."""
    tables = tree.toml("pyproject.toml")
    tools = table_of(tables, "tool")
    poetry, environments = table_of(tools, "poetry"), reduce(table_of, ("hatch", "envs"), tools)
    extras = table_of(table_of(tables, "project"), "optional-dependencies") | table_of(tables, "dependency-groups")
    extras |= {"poetry": poetry.get("dev-dependencies"), "uv": table_of(tools, "uv").get("dev-dependencies")}
    extras |= {f"poetry {name}": each["dependencies"] for name, each in _having("dependencies", poetry.get("group"))}
    extras |= {f"hatch {name}": each["dependencies"] for name, each in _having("dependencies", environments)}
    extras |= table_of(table_of(tools, "pdm"), "dev-dependencies")
    extras |= _of_setup(tree.text("setup.py")) | _ini(tree, "setup.cfg").get("options.extras_require", {})
    extras |= {f"tox {name}": each["deps"] for name, each in _having("deps", _ini(tree, "tox.ini"))}
    found = {name: words for name, listed in extras.items() if (words := _words(listed))}
    for path in tree.files:
        if re.fullmatch(r"(requirements/)?[\w.-]*(bench|dev|test)[\w.-]*\.txt", path):
            found[path] = listed_in(tree, path)
    return found


def required(tree: Tree) -> list[str]:
    """Return what the project needs wherever it is used, as its build tool lists it."""
    tables, options = tree.toml("pyproject.toml"), _ini(tree, "setup.cfg").get("options", {})
    own, tools = table_of(tables, "project"), table_of(tables, "tool")
    if "dependencies" in own:
        return _words(own["dependencies"])
    places = [
        reduce(table_of, ("poetry", "dependencies"), tools),
        reduce(table_of, ("flit", "metadata"), tools).get("requires"),
        options.get("install_requires"),
        _of_setup(tree.text("setup.py")).get("install_requires"),
    ]
    # requirements.txt counts if the build tool reads it, or if there is no build tool
    texts = [tree.text(path) for path in ("pyproject.toml", "setup.cfg", "setup.py")]
    told = not any(texts) or any("requirements.txt" in text for text in texts)
    return next(filter(None, map(_words, places)), listed_in(tree, "requirements.txt") if told else [])


def _words(listed: object) -> list[str]:
    """Return requirements that a list holds, a text of lines, or a table of poetry."""
    if isinstance(listed, dict):
        # what an index does not give, or only some places need, is no name for pip
        elsewhere = {"git", "markers", "optional", "path", "platform", "python", "source", "url"}
        tables = {name: each if isinstance(each, dict) else {"version": each} for name, each in listed.items()}
        wanted = {name: each for name, each in tables.items() if name != "python" and not elsewhere & {*each}}
        extras = {name: ",".join(_words(each.get("extras"))) for name, each in wanted.items()}
        return [
            f"{name}{f'[{extras[name]}]' if extras[name] else ''}{_range(each.get('version'))}"
            for name, each in wanted.items()
        ]
    lines = listed.splitlines() if isinstance(listed, str) else listed if isinstance(listed, list) else []
    words = [each.strip() for each in lines if isinstance(each, str)]
    return [each for each in words if each and not each.startswith(("#", "file:"))]


def _range(version: object) -> str:
    """Return what pip takes for the versions that poetry allows of a package; "" for all, and for alternatives."""
    if not isinstance(version, str) or "|" in version or version.strip() == "*":
        return ""
    ranges = list[str]()
    for sign, given in re.findall(r"([<>=!~^]*)\s*([\w.*+-]{1,60})", version):
        numbers = [int(number) for number in re.match(r"[\d.]*", given)[0].split(".") if number]  # type: ignore[index]
        if sign in ("^", "~") and numbers:
            # of ^ the first that is not 0, of ~ the second becomes one more
            place = next((at for at, number in enumerate(numbers) if number), len(numbers) - 1) if sign == "^" else 1
            place = min(place, len(numbers) - 1)
            ranges += [f">={given}", f"<{'.'.join(map(str, [*numbers[:place], numbers[place] + 1]))}"]
        else:
            ranges.append(f"{'==' if sign in ('', '=') else sign}{given}")
    return ",".join(ranges)


def _having(key: str, tables: object) -> list[tuple[str, dict[str, Any]]]:
    """Return the tables of a table that have a key, with their names."""
    every = tables.items() if isinstance(tables, dict) else ()
    return [(name, each) for name, each in every if isinstance(each, dict) and key in each]


def _ini(tree: Tree, path: str) -> dict[str, dict[str, str]]:
    """Return the tables of an INI file; none when it cannot be read."""
    parser = RawConfigParser(strict=False)
    with suppress(ConfigError):
        parser.read_string(tree.text(path))
    return {name: dict(parser[name]) for name in parser.sections()}


def _of_setup(text: str) -> dict[str, object]:
    """Return what a setup.py that is not started names by itself and as extras, where it does so in so many words."""
    found = dict[str, object]()
    for each in ast.walk(parsed(text)):
        if isinstance(each, ast.keyword) and each.arg in ("install_requires", "extras_require", "tests_require"):
            with suppress(ValueError):
                listed = ast.literal_eval(each.value)
                found |= listed if isinstance(listed, dict) else {each.arg: listed}
    return found


def parsed(text: str) -> ast.Module:
    """Parse what Python takes; nothing of a text that it does not."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])


def listed_in(tree: Tree, path: str) -> list[str]:
    """Return what a file of requirements lists, without markers; nothing where it is not there."""
    lines = tree.text(path).splitlines() if path in tree.names else []
    return [line.split("#")[0].split(";")[0].strip() for line in lines if re.match(r"[A-Za-z0-9]", line)]


def normal(requirement: str) -> str:
    """Return the name of what is required as indexes compare names."""
    name = re.match(r"[A-Za-z0-9][\w.-]*", requirement)
    return re.sub(r"[-_.]+", "-", name[0] if name else requirement).lower()
