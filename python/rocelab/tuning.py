"""Settings that are found: `rocelab.tuning.tune`, by Optuna (`pip install "rocelab[tune]"`)."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import optuna

from . import Results, Scenario
from .errors import ScenarioError

Objective = Callable[[Results], float]
Space = Mapping[str, Sequence[Any]]

_QUANTITY = re.compile(r"\s*([0-9.]+)\s*([A-Za-z/%]*)\s*$")


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
    front, `study.trials_dataframe()` all of them.

    `space` has, for each key of the scenario, a range, `("10KB", "400KB")` or `("10KB", "400KB", "log")`, or a list of values,
    `["1/8", "1/4"]`. `objectives` are functions of results, by name. `first` are settings to try before others.

    `storage` is a file (SQLite): a study that was broken off goes on there until it has so many `trials`. `jobs` run at
    once, and with a `client` of `dask.distributed` on its workers; then which trial sees the outcome of which is not the same
    every time. A trial whose values do not go together, such as `kmin` above `kmax`, is pruned.
    """
    if storage is not None:
        storage = f"sqlite:///{Path(storage).absolute()}"
    study = optuna.create_study(
        study_name=name, storage=storage, load_if_exists=True, directions=["minimize"] * len(objectives)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        study.set_metric_names(list(objectives))
    ended = [trial for trial in study.trials if trial.state.is_finished()]
    # A sampler that begins anew with the same seed would draw the same values once more.
    study.sampler = _sampler(seed + len(ended))
    if not study.trials:
        for settings in first:
            study.enqueue_trial({key: _suggested(value) for key, value in settings.items()})

    def evaluate(trial: optuna.Trial) -> tuple[float, ...]:
        settings = {key: _draw(trial, key, values) for key, values in space.items()}
        trial.set_user_attr("settings", settings)
        try:
            if client is None:
                return _outcome(scenario.to_toml(), settings, list(objectives.values()))
            task = client.submit(_outcome, scenario.to_toml(), settings, list(objectives.values()), pure=False)
            return task.result()
        except ScenarioError as error:
            raise optuna.TrialPruned(str(error)) from error

    left = trials - len(ended)
    if left > 0:
        study.optimize(evaluate, n_trials=left, n_jobs=jobs)
    return study


def _sampler(seed: int) -> optuna.samplers.BaseSampler:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        return optuna.samplers.TPESampler(seed=seed, multivariate=True)


def _outcome(text: str, settings: Mapping[str, str], objectives: Sequence[Objective]) -> tuple[float, ...]:
    """Runs the scenario with these settings; here, or in a worker of Dask."""
    results = Scenario.from_toml(text, set=settings).run(threads=1, progress=False)
    return tuple(float(objective(results)) for objective in objectives)


def _suggested(value: Any) -> Any:
    """The number of a quantity, as trials have it; anything else as it is."""
    found = _QUANTITY.match(value) if isinstance(value, str) else None
    return float(found[1]) if found else value


def _draw(trial: optuna.Trial, key: str, values: Sequence[Any]) -> str:
    """The value of a key for a trial, as `--set` takes it."""
    if isinstance(values, list):
        return str(trial.suggest_categorical(key, values))
    scale = values[2] if len(values) == 3 else "linear"
    if not isinstance(values, tuple) or len(values) not in (2, 3) or scale not in ("linear", "log"):
        raise ValueError(f'{key} = {values!r}: write a list of values, ("10KB", "400KB") or ("10KB", "400KB", "log")')
    ends = [_QUANTITY.match(str(end)) for end in values[:2]]
    if None in ends or ends[0][2] != ends[1][2]:
        raise ValueError(f"{key} = {values!r}: both ends are numbers with the same unit")
    low, high = (float(end[1]) for end in ends)
    drawn = trial.suggest_float(key, low, high, log=scale == "log")
    # Three digits say enough, and leave texts that people can read.
    return f"{float(f'{drawn:.3g}'):.12g}{ends[0][2]}"
