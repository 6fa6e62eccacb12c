//! The values of a host's profile as keys of a scenario: the inverse of how they are read.

use rocelab_host::HostProfile;
use rocelab_units::Bytes;

use super::profile;
use crate::scenario::{
    CpuConfig, HostCachesConfig, HostMemoryConfig, HostModelConfig, HostProfileName,
    HostRatesConfig, PcieConfig,
};

/// The model with every value that its `profile` gives, so that reading it gives the same hosts whatever the profile
/// is by then. A model that is refused stays as it is. `has_buffer` says whether its NICs may have a buffer:
/// on InfiniBand credits take its place.
///
/// `xoff` and `xon` follow from links, and not from the profile.
pub(in crate::planning) fn written_out(
    config: &HostModelConfig,
    has_buffer: bool,
) -> HostModelConfig {
    // A host that takes no time has no values: it lacks what the keys are about.
    if config.profile == HostProfileName::None {
        return config.clone();
    }
    let Ok(profile) = profile(config) else { return config.clone() };
    HostModelConfig {
        pcie: pcie(&profile, &config.pcie),
        cpu: cpu(&profile, config),
        rates: rates(&profile, &config.rates),
        caches: caches(&profile, &config.caches),
        memory: HostMemoryConfig {
            posted_credits: profile.memory.credits,
            credit_latency: Some(profile.memory.credit_latency),
            ..config.memory
        },
        buffer: if has_buffer { profile.buffer.map(Bytes::new) } else { config.buffer },
        ..config.clone()
    }
}

fn pcie(profile: &HostProfile, config: &PcieConfig) -> PcieConfig {
    profile.pcie.map_or(*config, |pcie| PcieConfig {
        r#gen: Some(pcie.generation),
        lanes: Some(pcie.lanes),
        mps: Some(pcie.max_payload),
        mrrs: Some(pcie.max_read_request),
        tags: Some(pcie.tags),
        read_latency: Some(pcie.read_latency),
        write_latency: Some(pcie.write_latency),
        doorbell_latency: Some(pcie.doorbell_latency),
    })
}

fn cpu(profile: &HostProfile, config: &HostModelConfig) -> CpuConfig {
    let posting = &profile.posting;
    CpuConfig {
        threads: Some(posting.threads),
        post: Some(posting.post),
        doorbell: Some(posting.doorbell),
        batch: Some(posting.batch),
        inline: Some(Bytes::new(posting.inline.into())),
        poll: Some(posting.poll),
        completion: config.cpu.completion,
    }
}

fn caches(profile: &HostProfile, config: &HostCachesConfig) -> HostCachesConfig {
    let caches = &profile.caches;
    HostCachesConfig {
        qp_contexts: caches.contexts,
        translations: caches.translations,
        page_size: Some(Bytes::new(caches.page)),
        registered: Some(Bytes::new(caches.registered)),
        replacement: config.replacement,
    }
}

fn rates(profile: &HostProfile, config: &HostRatesConfig) -> HostRatesConfig {
    let units = profile.transmit.units;
    let or = |given: Option<f64>, units, time| given.or_else(|| super::rate_of(units, time));
    HostRatesConfig {
        messages: or(config.messages, units, profile.transmit.service),
        units: Some(units),
        packets_per_queue_pair: or(config.packets_per_queue_pair, 1, profile.queue_pair_interval),
        packets: or(config.packets, 1, profile.packet_interval),
        atomics: or(config.atomics, 1, profile.atomic_interval),
        control_latency: Some(profile.control_latency),
        transmit_latency: Some(profile.transmit.latency),
        receive_latency: Some(profile.receive.latency),
    }
}

#[cfg(test)]
mod tests {
    use rocelab_units::{Duration, SimTime};

    use super::*;
    use crate::scenario::{CompletionConfig, ContentionConfig, IommuConfig, Replacement};

    const PROFILES: [HostProfileName; 5] = [
        HostProfileName::Cx3,
        HostProfileName::Cx5,
        HostProfileName::Cx6,
        HostProfileName::Cx7,
        HostProfileName::None,
    ];

    /// Models with nothing, something and everything of their own.
    fn models(profile: HostProfileName) -> [HostModelConfig; 3] {
        let plain = HostModelConfig { profile, ..HostModelConfig::default() };
        let mut some = plain.clone();
        some.pcie.lanes = Some(4);
        some.cpu.completion = CompletionConfig::Interrupt(Duration::from_us(3));
        some.rates.units = Some(3);
        some.caches.replacement = Replacement::Lru;
        let mut more = some.clone();
        more.rates.messages = Some(7e6);
        more.rates.packets = Some(3.3e6);
        more.rates.packets_per_queue_pair = Some(1.1e6);
        more.rates.atomics = Some(9e5);
        more.caches.registered = Some(Bytes::new(1 << 30));
        more.memory.iommu = Some(IommuConfig::default());
        more.memory.posted_credits = Some(17);
        more.buffer = Some(Bytes::new(300_000));
        let at = SimTime::ZERO;
        more.contention = vec![ContentionConfig { at, lasts: Duration::from_us(1), factor: 2.5 }];
        [plain, some, more]
    }

    #[test]
    fn what_is_written_out_gives_the_same_host() {
        for config in PROFILES.into_iter().flat_map(models) {
            let written = written_out(&config, true);
            assert_eq!(profile(&written).ok(), profile(&config).ok(), "{config:?}");
            assert_eq!(written_out(&written, true), written, "{config:?}");
        }
    }

    /// Then a change of the profile changes nothing, as each value is there.
    #[test]
    fn nothing_is_left_to_the_profile() {
        for config in PROFILES[..4].iter().copied().flat_map(models) {
            let mut written = written_out(&config, true);
            let before = profile(&written).ok();
            assert!(before.is_some(), "{config:?}");
            written.profile = HostProfileName::None;
            assert_eq!(profile(&written).ok(), before, "{config:?}");
        }
    }

    #[test]
    fn on_infiniband_no_buffer_is_written_out() {
        let config = HostModelConfig::default();
        assert_eq!(written_out(&config, false).buffer, None);
        assert!(written_out(&config, true).buffer.is_some());
    }
}
