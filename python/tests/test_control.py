"""Congestion controls that are written in Python."""

import json
import re
import subprocess
from pathlib import Path

import pytest

import rocelab

GUESTS = Path(__file__).resolve().parents[2] / "guests"


@pytest.fixture
def incast():
    """Eight senders to one, with marks and losses."""
    return rocelab.Scenario(
        topology={"single-switch": {"hosts": 9, "link": {"rate": "100Gbps", "cable": "10m"}}},
        switch={"ecn": {"kmin": "5KB", "kmax": "40KB", "pmax": 0.2}},
        workload={"incast": {"senders": 8, "bytes": "1MB"}},
        faults=[{"action": "drop", "probability": 0.0005}],
        sample={"rates": {"interval": "20us"}},
        seed=5,
    )


class Aimd(rocelab.CongestionControl):
    """As guests/wat/aimd.wat."""

    name = "aimd"
    version = "1.0"
    increase = 50_000_000
    least = 100_000_000

    def open(self, path):
        self.rate = path.line_rate
        self.no_cut_before = 0

    def on_ack(self, now, acked, acknowledged, sent, rtt, ecn_echo):
        if not ecn_echo:
            self.rate = min(self.rate + self.increase, self.path.line_rate)
        elif now >= self.no_cut_before:
            self.rate = max(self.rate // 2, self.least)
            self.no_cut_before = now + self.path.base_rtt


class Dctcp(rocelab.CongestionControl):
    """As the program's own."""

    events = ("ack",)
    g = 1 / 16
    least = 10**9

    def open(self, path):
        self.rate, self.alpha = path.line_rate, 1.0
        self.round_end = self.marked = self.packets = 0
        self.step = max(path.mtu * 8 * 10**12 // path.base_rtt, 1)
        self.cut_until = None
        self.answer()

    def on_ack(self, now, acked, acknowledged, sent, rtt, ecn_echo):
        self.marked += ecn_echo
        new_round = acknowledged > self.round_end
        if new_round:
            before = acknowledged
            if self.round_end == 0:
                before = 0
            else:
                share = min(self.marked / self.packets, 1.0)
                self.alpha = (1.0 - self.g) * self.alpha + self.g * share
                self.marked = 0
            self.round_end = sent
            self.packets = (sent - before) // self.path.mtu + 1
        if self.cut_until is not None and acknowledged > self.cut_until:
            self.cut_until = None
        if ecn_echo and self.cut_until is None:
            self.rate = max(int(self.rate * (1.0 - self.alpha / 2.0)), self.least)
            self.cut_until = sent
        if self.cut_until is None and new_round:
            self.rate = min(self.rate + self.step, self.path.line_rate)
        self.answer()

    def answer(self):
        self.window = max(self.path.bdp * self.rate // self.path.line_rate, 1)


class Halving(rocelab.CongestionControl):
    """Halves at a CNP, and adds by a timer."""

    feedback = "cnp"

    def open(self, path):
        self.rate = path.line_rate
        self.timers[1] = path.start + 20_000_000

    def on_cnp(self, now):
        self.rate = max(self.rate // 2, 10**9)
        self.repaces = True

    def on_timer(self, now, timer):
        assert timer == 1 and now == self.timers[1]
        self.rate = min(self.rate + 10**9, self.path.line_rate)
        self.timers[1] = now + 20_000_000


def test_a_class_gives_the_results_of_the_native_algorithm(incast):
    native = incast.set(congestion_control="dctcp").run()
    assert native.summary["ecn"]["marks"] > 100
    own = incast.run(congestion_control=Dctcp)
    assert own.digest == native.digest
    assert set(own.flows.column("congestion_control")) == {"python:Dctcp"}
    assert own.flows.column("fct_ps") == native.flows.column("fct_ps")
    # What is sampled of an algorithm is there of a class too.
    assert own.rates.column("rate_bps") == native.rates.column("rate_bps")
    assert len({rate for rate in own.rates.column("rate_bps") if rate}) > 10


def test_a_class_gives_the_results_of_a_module(incast, program, tmp_path):
    if "without WebAssembly" in subprocess.run(
        [program, "cc", "check", GUESTS / "wat/aimd.wat"], capture_output=True, text=True
    ).stderr:
        pytest.skip("the program was built without WebAssembly")
    own = incast.run(congestion_control=Aimd)
    scenario = tmp_path / "scenario.toml"
    scenario.write_text(incast.to_toml())
    module = f'congestion_control.wasm={{ path = "{GUESTS / "wat/aimd.wat"}" }}'
    subprocess.run([program, "run", scenario, "--out", tmp_path / "wasm", "--set", module, "--quiet"], check=True)
    assert own.digest == json.loads((tmp_path / "wasm/summary.json").read_text())["digest"]


def test_timers_and_repacing_work(incast):
    first, again = (incast.run(congestion_control=Halving) for _ in range(2))
    assert first.digest == again.digest
    assert first.digest != incast.set(congestion_control="none").run().digest
    assert len({rate for rate in first.rates.column("rate_bps") if rate}) > 10


def test_the_run_says_which_class_it_was(incast, tmp_path):
    results = incast.run(out=tmp_path / "results", congestion_control=Aimd)
    [control] = results.run_info["congestion_controls"]
    assert (control["name"], control["version"], len(control["sha256"])) == ("python:aimd", "1.0", 64)
    assert results.run_info["partitions"] == 1
    assert 'class = "test_control.Aimd"' in results.scenario.to_toml().replace("tests.", "")
    # A scenario has the name of the class, and not the class.
    with pytest.raises(rocelab.ScenarioError, match="a class of Python can be used by runs that Python starts"):
        results.scenario.run()
    assert results.scenario.run(congestion_control=Aimd).digest == results.digest


def test_an_exception_says_when_and_in_which_queue_pair(incast, tmp_path):
    class Failing(Aimd):
        def on_ack(self, now, *what):
            if now > 50_000_000:
                self.rate = 1 // 0
            super().on_ack(now, *what)

    with pytest.raises(rocelab.RunError) as raised:
        incast.run(out=tmp_path / "results", congestion_control=Failing)
    text = str(raised.value)
    words = r"the congestion control `python:aimd` failed at \S+, flow \d, host-\d -> host-0, told of `ack`: ZeroDivisionError"
    assert re.match(words, text), text
    assert "Traceback" in text and "self.rate = 1 // 0" in text, text
    assert isinstance(raised.value.__cause__, ZeroDivisionError)
    assert not (tmp_path / "results" / "summary.json").exists()


@pytest.mark.parametrize(
    ("attribute", "value", "words"),
    [
        ("rate", 0, r"it answers rate = 0; give 1 to 2\^63 bit/s"),
        ("rate", 4e10, r"rate = 40000000000\.0: give a whole number"),
        ("rate", -1, "rate = -1: give a whole number"),
        ("window", 0, "it answers window = 0"),
        ("timers", [None, 5, None], "it answers timer 1 = 5 ps, not after the time of the call"),
        ("timers", [], r"timers = \[\]: give a list of three"),
    ],
)
def test_answers_that_cannot_be_are_told(incast, attribute, value, words):
    class Wrong(Aimd):
        def on_ack(self, now, *what):
            setattr(self, attribute, value)

    with pytest.raises(rocelab.RunError, match=words):
        incast.run(congestion_control=Wrong)


def test_what_is_no_such_class_is_refused(incast):
    for wrong in ("dctcp", Aimd(), dict):
        with pytest.raises(rocelab.InputError, match="give a subclass"):
            incast.run(congestion_control=wrong)
    for attribute, value, words in [
        ("feedback", "ecn", "unknown variant `ecn`"),
        ("events", ("acks",), "unknown variant `acks`"),
        ("name", "a b", "name = a b"),
    ]:
        with pytest.raises(rocelab.InputError, match=words):
            incast.run(congestion_control=type("Wrong", (Aimd,), {attribute: value}))
    with pytest.raises(rocelab.InputError, match="partitions = 2: a congestion control in Python runs in one part"):
        incast.run(congestion_control=Aimd, partitions=2)
    with pytest.raises(rocelab.RunError, match="has to set"):
        incast.run(congestion_control=rocelab.CongestionControl)


def test_an_interruption_is_no_fault(incast):
    class Interrupted(Aimd):
        def on_ack(self, now, *what):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        incast.run(congestion_control=Interrupted)
