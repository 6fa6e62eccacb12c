"""What the tests have in common."""

import os
from pathlib import Path

import pytest

import rocelab

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture
def scenarios():
    """The folder with the scenarios of the repository."""
    return REPOSITORY / "scenarios"


@pytest.fixture
def incast():
    """Eight senders, one receiver, samples of queues and rates."""
    return rocelab.Scenario(
        topology={"single-switch": {"hosts": 9, "link": {"rate": "100Gbps", "cable": "3m"}}},
        workload={"incast": {"senders": 8, "bytes": "200KB"}},
        sample={"queues": {"interval": "1us", "ports": ["all"]}, "rates": {"interval": "5us"}},
        seed=7,
    )


@pytest.fixture
def program():
    """The program `rocelab` of the same build."""
    program = os.environ.get("ROCELAB")
    if program is None:
        pytest.skip("ROCELAB does not name the program rocelab")
    return program
