"""Tuning: the scenario of the user, whatever was broken off."""

import pickle

import optuna
import pytest

import rocelab
from rocelab.tuning import tune

optuna.logging.set_verbosity(optuna.logging.WARNING)

SPACE = {"workload.incast.bytes": ("10KB", "40KB"), "switch.alpha": ["1/8", "1/4"]}


@pytest.fixture
def scenario():
    return rocelab.Scenario(
        topology={"single-switch": {"hosts": 4, "link": {"rate": "100Gbps", "cable": "3m"}}},
        workload={"incast": {"senders": 3, "bytes": "100KB"}},
    )


def last_completion(results):
    return max(results.flows.column("fct_ps"))


def packets(results):
    return -sum(results.flows.column("packets"))


def test_small_values_are_found(scenario):
    study = tune(scenario, SPACE, {"fct": last_completion}, trials=12)
    assert len(study.trials) == 12
    best = study.best_trial.user_attrs["settings"]
    assert int(best["workload.incast.bytes"].removesuffix("KB")) < 15
    # What is told is what ran.
    assert last_completion(scenario.set(best).run()) == study.best_value


def test_a_study_goes_on_where_it_was_broken_off(scenario, tmp_path):
    def killed(results):
        killed.left -= 1
        if killed.left < 0:
            raise KeyboardInterrupt
        return last_completion(results)

    killed.left = 3
    arguments = {"trials": 8, "storage": tmp_path / "study.db", "first": [{"workload.incast.bytes": "20KB"}]}
    with pytest.raises(KeyboardInterrupt):
        tune(scenario, SPACE, {"fct": killed}, **arguments)
    study = tune(scenario, SPACE, {"fct": last_completion}, **arguments)
    done = [trial for trial in study.trials if trial.state == optuna.trial.TrialState.COMPLETE]
    assert len(done) == 8
    assert done[0].params["workload.incast.bytes"] == 20
    assert len({tuple(trial.params.items()) for trial in done}) > 4, "no draw is made twice by principle"
    assert len(tune(scenario, SPACE, {"fct": last_completion}, **arguments).trials) == len(study.trials)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"space": {"switch.alpha": ["1/8"]}}, "another space"),
        ({"objectives": {"other": last_completion}}, "another objectives"),
    ],
)
def test_a_study_of_another_question_is_refused(scenario, tmp_path, change, words):
    arguments = {"space": SPACE, "objectives": {"fct": last_completion}, "trials": 1, "storage": tmp_path / "study.db"}
    tune(scenario, **arguments)
    with pytest.raises(rocelab.InputError, match=words):
        tune(scenario, **(arguments | change))
    with pytest.raises(rocelab.InputError, match="another scenario"):
        tune(scenario.set(seed=5), **arguments)


def test_several_objectives_have_a_front(scenario):
    study = tune(scenario, SPACE, {"fct": last_completion, "packets": packets}, trials=6)
    assert study.best_trials and study.metric_names == ["fct", "packets"]


def test_values_of_a_list_may_be_tables(scenario):
    algorithms = ["dcqcn", {"hpcc": {"eta": 0.9}}]
    study = tune(scenario, {"congestion_control": algorithms}, {"fct": last_completion}, trials=6)
    assert {trial.state for trial in study.trials} == {optuna.trial.TrialState.COMPLETE}
    assert len({trial.user_attrs["settings"]["congestion_control"] for trial in study.trials}) == 2


def test_objectives_are_numbers(scenario):
    with pytest.raises(rocelab.InputError, match="`fct` is None"):
        tune(scenario, SPACE, {"fct": lambda results: None}, trials=1)


def test_if_no_trial_gives_results_the_reason_is_told(scenario):
    with pytest.raises(rocelab.RunError, match="switch.alhpa"):
        tune(scenario, {"switch.alhpa": ["1/8"]}, {"fct": last_completion}, trials=2)


@pytest.mark.parametrize(
    ("space", "first", "words"),
    [
        ({"seed": []}, [], "list of values"),
        ({"seed": (1, "2KB")}, [], "same unit"),
        ({"seed": (3, 1)}, [], "lower one"),
        ({"seed": (1, 3)}, [{"sed": 1}], "no key of the space"),
        ({"switch.buffer": ("1MB", "3MB")}, [{"switch.buffer": "2000KB"}], "in that unit"),
    ],
)
def test_a_wrong_space_is_told(scenario, space, first, words):
    with pytest.raises(rocelab.InputError, match=words):
        tune(scenario, space, {"fct": last_completion}, first=first, trials=1)


def test_workers_of_dask_run_trials(scenario):
    distributed = pytest.importorskip("dask.distributed")
    with distributed.Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None) as client:
        study = tune(scenario, SPACE, {"fct": last_completion}, trials=2, client=client)
    assert all(pickle.loads(pickle.dumps(trial)).value > 0 for trial in study.trials)
