"""Settings that are found: `rocelab.tuning.tune`, by Optuna (`pip install ".[tune]"` in the checkout)."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import optuna
from optuna.trial import TrialState

from . import Results, Scenario, _value
from .errors import InputError, RunError, ScenarioError

Objective = Callable[[Results], float]
Space = Mapping[str, Sequence[Any]]

_QUANTITY = re.compile(r"\s*([0-9]*\.?[0-9]+)\s*([A-Za-z/%]*)\s*$")
_ENDED = (TrialState.COMPLETE, TrialState.PRUNED)


def tune(
    scenario: Scenario,
    space: Space,
    objectives: Mapping[str, Objective],
    *,
    trials: int = 60,
    storage: str | Path | None = None,
    name: str = "rocelab",
    first: Sequence[Mapping[str, Any]] = (),
    seed: int = 1,
    jobs: int = 1,
    client: Any = None,
) -> optuna.Study:
    """Tries values of keys, so that all objectives become small, and returns Optuna's study: `study.best_trials` is the
    front, `study.trials_dataframe()` all of them, and `trial.user_attrs["settings"]` what `scenario.set` got for one.

    `space` has, for each key of the scenario, a range, `("10KB", "400KB")` or `("10KB", "400KB", "log")`, or a list of values,
    `["1/8", "1/4"]`. Whole numbers are drawn if both ends are; otherwise three digits. `objectives` are functions of results,
    by name. `first` are settings to try before others.

    `storage` is a file (SQLite), or a URL of Optuna's: a study that was broken off goes on there until it has so many
    `trials`; one process at a time uses it. `jobs` run at once, and with a `client` of `dask.distributed` on its workers; then which
    trial sees the outcome of which is not the same every time. A trial whose values do not go together, such as `kmin`
    above `kmax`, is pruned.

    Raises `InputError` if the space is wrong, or if the study in `storage` is of another scenario, space, or other
    objectives; `RunError` if no trial gave results.
    """
    ranges = {key: _choices(key, values) for key, values in space.items()}
    study = _study(scenario, space, objectives, storage, name)
    for trial in study.trials:
        if trial.state == TrialState.RUNNING:  # it was killed with its process
            study.tell(trial.number, state=TrialState.FAIL)
    # A sampler that begins anew with the same seed would draw the same values once more.
    study.sampler = _sampler(seed + len(study.trials))
    tried = [trial for trial in study.trials if trial.state in (*_ENDED, TrialState.WAITING)]
    for settings in first:
        parameters = {key: _suggested(ranges, key, value) for key, value in settings.items()}
        if not any(parameters.items() <= _parameters(trial).items() for trial in tried):
            study.enqueue_trial(parameters)

    def evaluate(trial: optuna.Trial) -> tuple[float, ...]:
        settings = {key: _draw(trial, key, choices) for key, choices in ranges.items()}
        trial.set_user_attr("settings", settings)
        try:
            if client is None:
                return _outcome(scenario, settings, objectives)
            return client.submit(_outcome, scenario, settings, dict(objectives), pure=False).result()
        except ScenarioError as error:
            trial.set_user_attr("pruned", str(error))
            raise optuna.TrialPruned(str(error)) from error

    left = trials - sum(trial.state in _ENDED for trial in study.trials)
    if left > 0:
        study.optimize(evaluate, n_trials=left, n_jobs=jobs)
    if not any(trial.state == TrialState.COMPLETE for trial in study.trials):
        reasons = [trial.user_attrs.get("pruned", "") for trial in study.trials]
        raise RunError(f"no trial gave results; the last one: {reasons[-1] if reasons else 'there was none'}")
    return study


def _study(
    scenario: Scenario,
    space: Space,
    objectives: Mapping[str, Objective],
    storage: str | Path | None,
    name: str,
) -> optuna.Study:
    """A new study, or the one in `storage` if it is of the same question."""
    if storage is not None and "://" not in str(storage):
        storage = f"sqlite:///{Path(storage).absolute()}"
    study = optuna.create_study(
        study_name=name, storage=storage, load_if_exists=True, directions=["minimize"] * len(objectives)
    )
    question = {
        "scenario": scenario.to_toml(),
        "space": {key: list(map(str, values)) for key, values in sorted(space.items())},
        "objectives": list(objectives),
    }
    earlier = study.user_attrs.get("question", question)
    differing = [part for part, value in question.items() if earlier.get(part) != value]
    if differing:
        raise InputError(
            f"the study `{name}` in {storage} is of another {' and '.join(differing)}; name another `storage` or `name`"
        )
    study.set_user_attr("question", question)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        study.set_metric_names(list(objectives))
    return study


def _sampler(seed: int) -> optuna.samplers.BaseSampler:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        return optuna.samplers.TPESampler(seed=seed, multivariate=True)


def _outcome(
    scenario: Scenario, settings: Mapping[str, str], objectives: Mapping[str, Objective]
) -> tuple[float, ...]:
    """Runs the scenario with these settings; here, or in a worker of Dask."""
    results = scenario.set(settings).run(threads=1, progress=False)
    values = {name: objective(results) for name, objective in objectives.items()}
    for name, value in values.items():
        if value is None or math.isnan(value):
            raise InputError(
                f"the objective `{name}` is {value} with {dict(settings)}: give a number, a large one where flows did not "
                "complete"
            )
    return tuple(map(float, values.values()))


def _parameters(trial: optuna.trial.FrozenTrial) -> dict[str, Any]:
    """What a trial has, or what it will have if it waits."""
    return trial.params or trial.system_attrs.get("fixed_params", {})


def _choices(key: str, values: Sequence[Any]) -> list[Any] | tuple[float, float, str, bool, bool]:
    """The values to choose from, or the ends of a range, their unit, whether it is logarithmic, and of whole numbers."""
    if isinstance(values, list) and values:
        return [_value(key, value) for value in values]
    scale = values[2] if len(values) == 3 else "linear"
    if not isinstance(values, tuple) or len(values) not in (2, 3) or scale not in ("linear", "log"):
        raise InputError(f'{key} = {values!r}: write a list of values, ("10KB", "400KB") or ("10KB", "400KB", "log")')
    ends = [_QUANTITY.match(str(end)) for end in values[:2]]
    if None in ends or ends[0][2] != ends[1][2]:
        raise InputError(f"{key} = {values!r}: both ends are numbers with the same unit")
    low, high = (float(end[1]) for end in ends)
    if low > high or (scale == "log" and low <= 0):
        raise InputError(f"{key} = {values!r}: the first end is the lower one, and above 0 on a logarithmic scale")
    return low, high, ends[0][2], scale == "log", low.is_integer() and high.is_integer()


def _suggested(ranges: Mapping[str, Any], key: str, value: Any) -> Any:
    """A value of `first`, as trials have it."""
    if key not in ranges:
        raise InputError(f"first: {key} is no key of the space, which has {', '.join(ranges)}")
    choices = ranges[key]
    if isinstance(choices, list):
        if _value(key, value) not in choices:
            raise InputError(f"first: {key} = {value!r} is none of {choices}")
        return _value(key, value)
    low, high, unit, _, whole = choices
    found = _QUANTITY.match(str(value))
    if found is None or found[2] != unit or not low <= float(found[1]) <= high:
        raise InputError(f"first: {key} = {value!r} is not between {low:g}{unit} and {high:g}{unit}, in that unit")
    return int(float(found[1])) if whole else float(found[1])


def _draw(trial: optuna.Trial, key: str, choices: Any) -> str:
    """The value of a key for a trial, as `--set` takes it."""
    if isinstance(choices, list):
        return trial.suggest_categorical(key, choices)
    low, high, unit, logarithmic, whole = choices
    if whole:
        return f"{trial.suggest_int(key, int(low), int(high), log=logarithmic)}{unit}"
    drawn = trial.suggest_float(key, low, high, log=logarithmic)
    # Three digits say enough, and leave texts that people can read.
    return f"{float(f'{drawn:.3g}'):.12g}{unit}"
