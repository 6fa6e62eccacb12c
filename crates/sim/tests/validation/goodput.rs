//! A long WRITE reaches the payload goodput that the header sizes leave.

use crate::closed_form::VERSIONS;
use crate::support::run;

#[test]
fn a_long_write_gets_what_the_headers_leave() {
    for version in VERSIONS {
        for mtu in [256, 1024, 4096] {
            // Long enough for a latency of some frame times to stay far below 0.1 %.
            let bytes = (20_000 * mtu).max(20_000_000);
            let text = format!(
                "[roce]\n{}\npath_mtu = {mtu}\n[topology.leaf-spine]\nleaves = 2\nspines = 2\n\
                 hosts_per_leaf = 2\nhost_link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n\
                 fabric_link = {{ rate = \"100Gbps\", cable = \"30m\" }}\n[workload.flows]\n\
                 list = [{{ from = \"host-0\", to = \"host-2\", bytes = \"{bytes}B\" }}]\n",
                version.toml()
            );
            let run = run(&text);
            run.assert_complete(&text);
            let seconds = run.completion_times()[0] as f64 * 1e-12;
            let goodput = bytes as f64 * 8.0 / seconds;
            // Preamble, SFD and interpacket gap: 20 bytes a frame.
            let frame = version.frame(0, mtu) + 20;
            let limit = mtu as f64 / frame as f64 * 100e9;
            println!(
                "{version:?} MTU {mtu}: {:.4} of {:.4} Gb/s ({:.4} %)",
                goodput / 1e9,
                limit / 1e9,
                goodput / limit * 100.0
            );
            assert!(goodput <= limit, "{text}");
            assert!(goodput > limit * 0.999, "{goodput} of {limit}: {text}");
        }
    }
}
