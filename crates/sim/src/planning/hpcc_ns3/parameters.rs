//! What can be said about the section's values by themselves.

use rocelab_units::{Bytes, SimTime};

use crate::scenario::{Fault, HpccNs3Config, RateEcnConfig, ensure};

/// The section of a scenario that holds all this.
pub(super) const SECTION: &str = "profile.hpcc-ns3";

/// Headers and telemetry fit beside this much payload into the 16 bits of a packet's length.
const MOST_PAYLOAD: u64 = 65_000;

/// The first value that cannot work.
pub(in crate::planning) fn check(config: &HpccNs3Config) -> Result<(), Fault> {
    check_values(config).map_err(|fault| fault.within(SECTION))
}

fn check_values(config: &HpccNs3Config) -> Result<(), Fault> {
    ensure((1..=MOST_PAYLOAD).contains(&config.payload.get()), || {
        let message = format!("a packet of {} payload does not exist", config.payload);
        Fault::at("payload", message).value(config.payload).help("give 1B to 65000B")
    })?;
    for (key, size) in [("chunk", config.chunk), ("ack_interval", config.ack_interval)] {
        check_size(key, size)?;
    }
    check_chunk(config)?;
    for (key, share) in [("loss", config.loss), ("pint_probability", config.pint_probability)] {
        check_probability(key, share)?;
    }
    for (index, row) in config.ecn.iter().enumerate() {
        check_row(row, &config.ecn[..index])
            .map_err(|fault| fault.of_rate(row.rate).within(&format!("ecn[{index}]")))?;
    }
    let times = [
        ("link_down.at", config.link_down.map(|down| down.at)),
        ("queue_monitor.from", config.queue_monitor.map(|monitor| monitor.from)),
        ("queue_monitor.to", config.queue_monitor.map(|monitor| monitor.to)),
    ];
    times.into_iter().try_for_each(|(key, time)| {
        ensure(time.is_none_or(|time| time <= SimTime::LATEST), || {
            Fault::at(key, "simulated time does not reach that far")
                .help(format!("give at most {}", SimTime::LATEST))
        })
    })
}

/// Without chunks, the remainder of a division by their size has no value.
fn check_chunk(config: &HpccNs3Config) -> Result<(), Fault> {
    if config.chunk > Bytes::ZERO {
        return Ok(());
    }
    let (key, message, fix) = if config.back_to_chunk {
        ("back_to_chunk", "a loss cannot go back to a chunk of 0B", "set `back_to_chunk = false`")
    } else {
        let key = "ack_interval";
        (key, "below it the ends of chunks are acknowledged, and chunks have 0B", "give \"1B\"")
    };
    let works = !config.back_to_chunk && config.ack_interval.get() <= 1;
    ensure(works, || Fault::at(key, message).help(format!("{fix}, or a `chunk` above 0B")))
}

fn check_row(row: &RateEcnConfig, before: &[RateEcnConfig]) -> Result<(), Fault> {
    ensure(before.iter().all(|other| other.rate != row.rate), || {
        Fault::at("rate", format!("{} has thresholds already", row.rate)).help("keep one of them")
    })?;
    check_size("kmin", row.kmin)?;
    check_size("kmax", row.kmax)?;
    ensure(row.kmin <= row.kmax, || {
        Fault::at("kmin", format!("kmin {} is above kmax {}", row.kmin, row.kmax))
            .value(row.kmin)
            .help(format!("give at most {}, or a larger kmax", row.kmax))
    })?;
    check_probability("pmax", row.pmax)
}

fn check_size(key: &str, size: Bytes) -> Result<(), Fault> {
    ensure(u32::try_from(size.get()).is_ok(), || {
        Fault::at(key, format!("{size} do not fit the 32 bits of HPCC's simulator"))
            .value(size)
            .help("give at most 4294967295B")
    })
}

fn check_probability(key: &str, share: f64) -> Result<(), Fault> {
    ensure((0.0..=1.0).contains(&share), || {
        Fault::at(key, "this is no probability").value(share).help("give a number from 0 to 1")
    })
}

/// A size that was [checked](check).
pub(super) fn in_32_bits(size: Bytes) -> u32 {
    u32::try_from(size.get()).unwrap_or(u32::MAX)
}
