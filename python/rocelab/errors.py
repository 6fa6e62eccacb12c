"""What can go wrong.

Every exception says what the program `rocelab` says: the place, the key, the value, what is wrong with it, and what to
write instead.
"""

from __future__ import annotations


class RocelabError(Exception):
    """Any error of this package."""


class ScenarioError(RocelabError, ValueError):
    """A scenario, or the plan of a sweep, has an error.

    `file`, `line`, `column`: where it is (0 where there is no line); `key`, `value`: what is there; `message`: what is
    wrong; `help`: what to write instead, or `None`.
    """

    def __init__(
        self,
        text: str,
        place: tuple[str, int, int] = ("", 0, 0),
        what: tuple[str, str, str, str | None] = ("", "", "", None),
    ) -> None:
        super().__init__(text)
        self.file, self.line, self.column = place
        self.key, self.value, self.message, self.help = what

    def __reduce__(self):
        place = (self.file, self.line, self.column)
        what = (self.key, self.value, self.message, self.help)
        return (type(self), (str(self), place, what))


class InputError(RocelabError, ValueError):
    """An argument, or a file that is no scenario, has an error."""


class RunError(RocelabError, RuntimeError):
    """A run gave no results, or cannot be explained."""


class ResultsError(RocelabError, OSError):
    """Results cannot be read or written."""
