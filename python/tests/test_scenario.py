"""Scenarios from files, texts and dictionaries, and their errors."""

import pickle

import pytest

import rocelab

TOML = """
seed = 7

[topology.single-switch]
hosts = 3
link = { rate = "100Gbps", cable = "3m" }

[workload.incast]
senders = 2
bytes = "1MB"
"""


def test_text_and_dictionary_are_the_same_scenario():
    text = rocelab.Scenario.from_toml(TOML)
    sections = rocelab.Scenario(
        seed=7,
        topology={"single-switch": {"hosts": 3, "link": {"rate": "100Gbps", "cable": "3m"}}},
        workload={"incast": {"senders": 2, "bytes": "1MB"}},
        switch=None,
    )
    assert text.to_toml() == sections.to_toml()
    assert text.run().digest == sections.run().digest


def test_a_file_gives_its_name(scenarios):
    scenario = rocelab.Scenario.load(scenarios / "incast-v2.toml")
    assert scenario.name == "incast-v2"
    assert "incast-v2.toml" in repr(scenario)


def test_settings_change_a_copy():
    scenario = rocelab.Scenario.from_toml(TOML)
    changed = scenario.set({"workload.incast.bytes": "2MB", "switch.ecn": {"kmin": "20KB", "kmax": "80KB", "pmax": 0.1}}, seed=9)
    assert set(changed.run().flows.column("bytes")) == {2_000_000}
    assert set(scenario.run().flows.column("bytes")) == {1_000_000}
    assert "seed = 9" in changed.to_toml()


def test_an_algorithm_can_be_named_alone():
    scenario = rocelab.Scenario.from_toml(TOML, set={"congestion_control": "hpcc"})
    assert set(scenario.run().flows.column("congestion_control")) == {"hpcc"}


def test_errors_have_the_programs_words_and_the_place():
    with pytest.raises(rocelab.ScenarioError) as raised:
        rocelab.Scenario.from_toml(TOML.replace("senders = 2", "senderss = 2"))
    error = raised.value
    assert (error.line, error.column) == (9, 1)
    assert "senderss" in error.key and "senders" in error.help
    assert str(error).startswith("scenario.toml:9:1: ")
    assert isinstance(error, ValueError) and isinstance(error, rocelab.RocelabError)
    assert pickle.loads(pickle.dumps(error)).line == 9


def test_what_only_a_plan_finds_is_told_too():
    scenario = rocelab.Scenario.from_toml(TOML, set={"workload.incast.senders": 3})
    with pytest.raises(rocelab.ScenarioError, match="senders = 3"):
        scenario.run()


def test_files_that_are_not_there_or_no_text(tmp_path):
    with pytest.raises(rocelab.ScenarioError, match="cannot be read"):
        rocelab.Scenario.load(tmp_path / "none.toml")
    file = tmp_path / "binary.toml"
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(rocelab.ScenarioError, match="cannot be read"):
        rocelab.Scenario.load(file)


@pytest.mark.parametrize(
    ("value", "words"),
    [(None, "leave the key out"), (float("nan"), "finite"), (b"3", "bytes"), ([1, None], r"seed\[1\] = None")],
)
def test_what_is_no_value_of_a_scenario_is_refused(value, words):
    with pytest.raises(rocelab.InputError, match=words):
        rocelab.Scenario.from_toml(TOML, set={"seed": value})
    with pytest.raises(rocelab.RocelabError):
        rocelab.Scenario(seed=[value], topology={})


def test_labels_are_texts_whatever_they_look_like():
    scenario = rocelab.Scenario.from_toml(TOML, set={"labels.run": "1", "labels": {"other": "\N{GRINNING FACE}"}})
    scenario = scenario.set({"labels.run": "1"})
    assert scenario.run().summary["labels"] == {"run": "1", "other": "\N{GRINNING FACE}"}


def test_scenarios_can_be_pickled_with_their_folder(scenarios):
    scenario = rocelab.Scenario.load(scenarios / "parking-lot.toml").set(seed=3)
    again = pickle.loads(pickle.dumps(scenario))
    assert again.to_toml() == scenario.to_toml() and again.run().digest == scenario.run().digest


def test_numbers_of_numpy_are_numbers():
    import numpy

    scenario = rocelab.Scenario.from_toml(TOML, set={"workload.incast.senders": numpy.int64(1), "seed": numpy.uint8(3)})
    assert len(scenario.run().flows) == 1
    ports = scenario.set({"sample.queues": {"interval": "1us", "ports": numpy.array(["all"])}})
    assert "queues" in ports.run().names


def test_a_scenario_of_dictionaries_can_have_a_name():
    link = {"rate": "100Gbps", "cable": "3m"}
    named = rocelab.Scenario(name="mine", topology={"single-switch": {"hosts": 3, "link": link}}, workload={})
    assert named.name == "mine"


def test_check_says_what_the_program_says():
    check = rocelab.Scenario.from_toml(TOML).check()
    assert check.faults == 0
    assert "headroom" in str(check)
    assert isinstance(check.to_dict(), dict)


def test_the_schema_is_that_of_scenarios():
    assert "topology" in rocelab.json_schema()["properties"]


def test_headroom():
    answer = rocelab.headroom(
        "100Gbps", cable="100m", mtu=4096
    )
    assert answer["rate_bps"] == 100_000_000_000
    assert answer["classes_that_fit"] >= 1
    assert "headroom" in str(answer)
    with pytest.raises(ValueError, match="cable"):
        rocelab.headroom("100Gbps")
    with pytest.raises(ValueError, match="rate = fast"):
        rocelab.headroom("fast", cable="1m")
    with pytest.raises(ValueError, match="mtu"):
        rocelab.headroom("100Gbps", cable="1m", mtu=1500)
    with pytest.raises(rocelab.InputError, match="cable = 300000km"):
        rocelab.headroom("100Gbps", cable="300000km")
