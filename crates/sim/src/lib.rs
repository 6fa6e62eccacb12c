//! Puts the cores together: scenario, plan, network, workloads, measurement
