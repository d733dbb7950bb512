# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A hash of a class and of everything that its code uses: runs with it depend on both.

It covers compiled code, which exists for a notebook as for a file, and which comments do not change. Functions, classes and values that
the code names are followed through global names, closures and base classes. Of an installed package the name and the version count; of
another module that is used as a whole, its file.
"""

from __future__ import annotations

import builtins
import dis
import functools
import hashlib
import importlib.metadata
import pickle
import sys
import sysconfig
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any

PLAIN = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis))
# Attributes of a class that do not affect its behaviour, or only repeat it.
SKIPPED = {"__dict__", "__weakref__", "__module__", "__doc__", "__annotations__", "__firstlineno__", "__static_attributes__"}
# Attributes that dataclasses, protocols and abstract classes add; their code is in their methods.
NOTED = {"__dataclass_fields__", "__dataclass_params__", "__parameters__", "__orig_bases__", "_abc_impl"}


def fingerprint(thing: Any) -> tuple[str, list[str]]:
    """The hash, and the names of what could not be hashed."""
    walk = _Walk()
    walk.visit(thing, getattr(thing, "__qualname__", "it"))
    return walk.digest.hexdigest()[:32], walk.unknown


class _Walk:
    def __init__(self) -> None:
        self.digest = hashlib.sha256(f"python {sys.version_info[0]}.{sys.version_info[1]}".encode())
        self.unknown: list[str] = []
        self.seen: dict[int, int] = {}
        # Objects that are made on the way keep their place in memory, by which they are known.
        self.held: list[Any] = []

    def put(self, *words: object) -> None:
        for word in words:
            text = repr(word).encode()
            self.digest.update(b"%d:" % len(text) + text)

    def visit(self, thing: Any, name: str) -> None:
        """Adds an item with this name in messages."""
        if isinstance(thing, PLAIN):
            return self.put(type(thing).__name__, thing)
        if id(thing) in self.seen:
            return self.put("again", self.seen[id(thing)])
        self.seen[id(thing)] = len(self.seen)
        self.held.append(thing)
        if isinstance(thing, types.ModuleType):
            return self.module(thing, name)
        owner = thing if isinstance(thing, (type, types.FunctionType)) else type(thing)
        if isinstance(thing, types.CodeType):
            self.code(thing, name)
        elif isinstance(thing, (tuple, list)):
            self.put(type(thing).__name__, len(thing))
            for place, one in enumerate(thing):
                self.visit(one, f"{name}[{place}]")
        elif isinstance(thing, (set, frozenset, dict)):
            items = thing.items() if isinstance(thing, dict) else ((one, None) for one in thing)
            self.put(type(thing).__name__, len(thing))
            for key, one in sorted(items, key=lambda item: repr(item[0])):
                self.visit(key, name)
                self.visit(one, f"{name}[{key!r}]")
        elif isinstance(thing, (staticmethod, classmethod, types.MethodType)):
            self.put(type(thing).__name__)
            self.visit(thing.__func__, name)
            self.visit(getattr(thing, "__self__", None), name)
        elif isinstance(thing, (property, functools.cached_property)):
            self.put(type(thing).__name__)
            for part in ("fget", "fset", "fdel", "func"):
                self.visit(getattr(thing, part, None), name)
        elif isinstance(thing, functools.partial):
            self.put("partial")
            self.visit((thing.func, thing.args, thing.keywords), name)
        elif isinstance(thing, (types.MemberDescriptorType, types.GetSetDescriptorType)):
            self.put(type(thing).__name__, thing.__name__)
        elif _library(getattr(owner, "__module__", None) or ""):
            self.foreign(thing, name)
        elif isinstance(thing, types.FunctionType):
            self.function(thing, name)
        elif isinstance(thing, type):
            self.type(thing)
        else:
            self.put("instance")
            self.visit(type(thing), name)
            slots = {slot: getattr(thing, slot) for slot in getattr(type(thing), "__slots__", ()) if hasattr(thing, slot)}
            self.visit({**slots, **getattr(thing, "__dict__", {})}, name)

    def function(self, function: types.FunctionType, name: str) -> None:
        self.put("function")
        self.visit(function.__defaults__, name)
        self.visit(function.__kwdefaults__, name)
        for free, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
            try:
                self.visit(cell.cell_contents, free)
            except ValueError:
                self.put("empty")
        self.code(function.__code__, name)
        for used in _globals(function.__code__):
            if used in function.__globals__:
                self.put(used)
                self.visit(function.__globals__[used], used)
            elif not hasattr(builtins, used):
                self.put("absent", used)

    def code(self, code: types.CodeType, name: str) -> None:
        self.put(code.co_code, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars, code.co_flags)
        for constant in code.co_consts:
            self.visit(constant, name)
        for imported in _named(code, "IMPORT_NAME"):
            self.visit(sys.modules.get(imported), imported)

    def type(self, kind: type) -> None:
        self.put("class", kind.__qualname__)
        for base in kind.__bases__:
            self.visit(base, base.__qualname__)
        for key, value in sorted(vars(kind).items()):
            if key not in SKIPPED and key not in NOTED:
                self.put(key)
                self.visit(value, f"{kind.__qualname__}.{key}")

    def module(self, module: types.ModuleType, name: str) -> None:
        file = getattr(module, "__file__", None)
        if _library(module.__name__):
            self.put("module", module.__name__, _release(module.__name__))
        elif file is not None and Path(file).is_file():
            self.put("module", hashlib.sha256(Path(file).read_bytes()).hexdigest())
        else:
            self.unknown.append(f"the module `{name}`")

    def foreign(self, thing: Any, name: str) -> None:
        """Something of an installed package: what it is by its name, or a value by its contents."""
        owner = thing if hasattr(thing, "__qualname__") else type(thing)
        self.put("foreign", owner.__module__, owner.__qualname__, _release(owner.__module__ or ""))
        if owner is not thing:
            try:
                self.put(pickle.dumps(thing, protocol=4))
            except Exception:
                self.unknown.append(f"`{name}` ({owner.__qualname__})")


def _globals(code: types.CodeType) -> list[str]:
    """Global names used by code and by nested code."""
    names = set(_named(code, "LOAD_GLOBAL")) | set(_named(code, "LOAD_NAME"))
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names.update(_globals(constant))
    return sorted(names)


def _named(code: types.CodeType, operation: str) -> list[str]:
    return [str(one.argval) for one in dis.get_instructions(code) if one.opname == operation]


@functools.lru_cache(maxsize=None)
def _library(module: str) -> bool:
    """Whether a module is Python's or of an installed package."""
    top = module.split(".")[0]
    if top in sys.stdlib_module_names and top != "__main__":
        return True
    file = getattr(sys.modules.get(module) or sys.modules.get(top), "__file__", None)
    installed = {Path(sysconfig.get_path(name)).resolve() for name in ("purelib", "platlib", "stdlib")}
    return file is not None and any(folder in Path(file).resolve().parents for folder in installed)


@functools.lru_cache(maxsize=None)
def _release(module: str) -> str:
    """The version of the package that brings a module, whose name may be another; nothing for Python's own."""
    owners = _owners().get(module.split(".")[0], [])
    return " ".join(importlib.metadata.version(owner) for owner in sorted(set(owners)))


@functools.lru_cache(maxsize=None)
def _owners() -> Mapping[str, list[str]]:
    """The installed packages of each module."""
    return importlib.metadata.packages_distributions()
