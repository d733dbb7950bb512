# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verbs of the command line as functions. Words, defaults and ranges are the command line's, and are asked from it."""

from __future__ import annotations

import inspect
import json
import keyword
import numbers
import os
import sys
from collections.abc import Iterator
from typing import Any, Optional

from . import _native, algorithms
from ._progress import Display, Shown, warn
from ._result import Result
from .errors import Interrupted, UsageError
from .scenario import text_of

# The time between two checks of signals and progress.
_TICK_SECONDS = 0.05


class Verb:
    """A verb of the command line, or a question below one. `help(verb)` shows its options; the questions below it are its attributes."""

    def __init__(self, described: dict[str, Any], *above: str) -> None:
        self._described = described
        self._names = (*above, described["name"])
        self._questions = by_name(described["verbs"], *self._names)
        vars(self).update(self._questions)
        self.__name__ = parameter_name(described["name"])
        self.__qualname__ = ".".join(self._names)
        self.__module__ = "kneepoint"

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        lines = [self._described["about"] or "", ""]
        for name, question in self._questions.items():
            lines.append(f"{name}: {question._described['about']}")
        for option in self._described["options"]:
            default = ", ".join(option["default"])
            default = f" [default: {default}]" if default and default not in ("false", "0") else ""
            about = (option["about"] or "").replace("\n", " ")
            lines.append(f"{option['name']}: {about}{default}")
        return "\n".join(lines)

    @property
    def __signature__(self) -> inspect.Signature:
        parameters = [inspect.Parameter("words", inspect.Parameter.VAR_POSITIONAL)]
        for option in self._described["options"]:
            if option["flag"] is not None:
                kind = inspect.Parameter.KEYWORD_ONLY
                parameters.append(inspect.Parameter(parameter_name(option["name"]), kind, default=None))
        parameters.append(inspect.Parameter("progress", inspect.Parameter.KEYWORD_ONLY, default=None))
        return inspect.Signature(parameters)

    def __repr__(self) -> str:
        return f"<kneepoint.{self.__qualname__}: {self._described['about']}>"

    def __call__(self, *words: Any, progress: Shown = None, **options: Any) -> Result:
        if self._questions:
            return self._question(words)(*words[1:], progress=progress, **options)
        if options.get("on") is not None and self._takes("on"):
            from ._sweep import sweep

            return sweep(*self._names, *words, progress=progress, **options)
        spoken, text = self._spoken(words, options)
        return Result(answered(spoken, text, options.get("out") is not None, progress))

    def _takes(self, option: str) -> bool:
        """Whether it has an option of this name."""
        return any(one["name"] == option for one in self._described["options"])

    def _question(self, words: tuple[Any, ...]) -> Verb:
        for name, question in self._questions.items():
            if words[:1] == (name,):
                return question
        wrong = f"`{words[0]}` is not a question of" if words else "a question is missing after"
        raise UsageError(f"{wrong} `{self.__name__}`", f"expected one of {', '.join(self._questions)}")

    def _spoken(self, words: tuple[Any, ...], options: dict[str, Any]) -> tuple[list[str], Optional[str]]:
        """The call as words of the command line, and the input of `-`."""
        known = {parameter_name(one["name"]): one for one in self._described["options"]}
        several = any(one["flag"] is None and one["many"] for one in known.values())
        spoken, text = list(self._names), None
        for word in _flat(words) if several else words:
            scenario = text_of(word)
            if scenario is not None and text is not None:
                raise UsageError("two scenarios are given as texts", "give one, or the names of their files")
            if scenario is not None:
                text, word = scenario, "-"
            spoken.append(_written(word))
        for name, value in options.items():
            option = known.get(name)
            if option is not None and option["flag"] is None:
                raise UsageError(f"`{name}` has no name on the command line", "give it first, without a name")
            # An unknown name is passed to the command line, which suggests the closest.
            flag = option["flag"] if option is not None else name.strip("_").replace("_", "-")
            spoken.extend(_option(f"--{flag}", option or {}, value))
        return spoken, text


def parameter_name(name: str) -> str:
    """The name of an option as Python allows it."""
    name = name.replace("-", "_")
    return f"{name}_" if keyword.iskeyword(name) else name


def by_name(described: list[dict[str, Any]], *above: str) -> dict[str, Verb]:
    """These verbs by their names in Python."""
    return {parameter_name(one["name"]): Verb(one, *above) for one in described}


def _flat(words: tuple[Any, ...]) -> Iterator[Any]:
    """The words, with lists expanded in their places."""
    for word in words:
        listed = _listed(word)
        if listed is None:
            yield word
        elif listed:
            yield from listed
        else:
            raise UsageError("a list of words is empty", "leave it out to have the default")


def _listed(value: Any) -> Optional[list[Any]]:
    """The values of a list, a tuple, a range or an array; None of anything else."""
    if isinstance(value, (list, tuple, range)):
        return list(value)
    if isinstance(value, (set, frozenset)):
        raise UsageError(f"{value!r} has no order, which rows and colours follow", "write a list")
    if getattr(value, "ndim", 0) == 1 and hasattr(value, "tolist"):
        return list(value.tolist())
    return None


def _option(flag: str, option: dict[str, Any], value: Any) -> list[str]:
    if value is None:
        return []
    takes_value = option.get("type") != "bool" or bool(option.get("choices"))
    if value is True and (not takes_value or option.get("optional_value")):
        return [flag]
    if value is False and (not takes_value or option.get("optional_value")):
        return []
    if isinstance(value, dict):
        value = [f"{key}={_written(one)}" for key, one in value.items()]
    listed = _listed(value)
    if listed is not None:
        values = [_written(one) for one in listed]
        if option.get("many") and not option["separator"]:
            return [f"{flag}={one}" for one in values]
        # A list in one text, as of predictors, has commas, too.
        return [f"{flag}={(option.get('separator') or ',').join(values)}"]
    return [f"{flag}={_written(value)}"]


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    # Numbers of numpy among them.
    if isinstance(value, (str, numbers.Real)):
        return str(value)
    if isinstance(value, os.PathLike):
        return str(os.fspath(value))
    raise UsageError(
        f"{value!r} is neither text, number nor path", "write it as on the command line, as in '50mbit' or 20"
    )


def answered(words: list[str], text: Optional[str], files: bool, progress: Shown) -> _native.Answer:
    """Makes a call, shows its progress, and passes Ctrl-C on."""
    call = algorithms.call(words, text, files)
    display = Display(progress)
    try:
        while not call.wait(_TICK_SECONDS):
            display.update(call.progress())
    except KeyboardInterrupt:
        call.stop()
        while not call.wait(_TICK_SECONDS):
            pass
        raise _interrupted(call) from None
    except BaseException:
        # The progress function failed; the answer is not used.
        call.stop()
        raise
    finally:
        display.close()
        warn(call)
    if progress is not False:
        for remark in call.remarks():
            print(remark, file=sys.stderr)
    answer = call.answer()
    if answer.unfinished:
        raise Interrupted(answer.unfinished, Result(answer))
    return answer


def _interrupted(call: _native.Call) -> Interrupted:
    try:
        answer = call.answer()
    except Interrupted as stopped:
        return stopped
    except Exception as failure:
        return Interrupted(f"stopped: {failure}")
    # It had just ended, or has the finished runs.
    return Interrupted(answer.unfinished or "stopped; every run was finished and is kept", Result(answer))


# Every verb about results, as the command line lists them.
VERBS = by_name(json.loads(_native.verbs()))
globals().update(VERBS)

__all__ = list(VERBS)
