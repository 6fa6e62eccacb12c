"""What a new user does first: a slowdown figure of three algorithms, into the file that is named."""

import sys

import rocelab
from rocelab import figures

scenario = rocelab.Scenario(
    topology={"leaf-spine": {"leaves": 2, "spines": 2, "hosts_per_leaf": 4,
                             "host_link": {"rate": "25Gbps", "cable": "3m"}, "fabric_link": {"rate": "100Gbps", "cable": "30m"}}},
    workload={"poisson": {"load": 0.5, "distribution": "websearch", "duration": "20ms"}},
)
runs = {name: scenario.set(congestion_control=name).run() for name in ("dcqcn", "hpcc", "timely")}
figures.slowdown_by_size(runs, percentiles=[50, 95]).figure.savefig(sys.argv[1])
