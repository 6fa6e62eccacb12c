//! Hosts that take time, found and checked.

mod written_out;

pub(super) use self::written_out::written_out;

use std::collections::BTreeMap;

use rocelab_fabric::NodeId;
use rocelab_host::{
    CacheConfig, Contention, HostProfile, MemoryConfig, Paging, Pcie, PipelineConfig,
    PostingConfig, Preset,
};
use rocelab_units::{Bytes, Duration};

use super::receivers::{headroom_of_host, lossless_of_host};
use crate::plan::{HostModel, Plan};
use crate::scenario::{
    CompletionConfig, ContentionConfig, CpuConfig, Fault, HostCachesConfig, HostMemoryConfig,
    HostModelConfig, HostProfileName, HostRatesConfig, PcieConfig, Replacement, ensure,
};
use crate::workload::HostDirectory;

/// The hosts of a scenario that take time.
pub(super) fn build(
    plan: &Plan,
    configs: &[HostModelConfig],
    hosts: &HostDirectory,
) -> Result<BTreeMap<NodeId, HostModel>, Fault> {
    let mut models = BTreeMap::new();
    for (index, config) in configs.iter().enumerate() {
        add(plan, config, hosts, &mut models)
            .map_err(|fault| fault.within(&format!("host_model[{index}]")))?;
    }
    Ok(models)
}

fn add(
    plan: &Plan,
    config: &HostModelConfig,
    hosts: &HostDirectory,
    models: &mut BTreeMap<NodeId, HostModel>,
) -> Result<(), Fault> {
    let profile = profile(config)?;
    for host in hosts.selected("hosts", config.hosts.as_deref())? {
        let name = &plan.topology.nodes[host as usize].name;
        ensure(!plan.slow_receivers.contains_key(&host), || {
            Fault::at(
                "hosts",
                format!("`{name}` is a slow receiver, whose times would count twice"),
            )
            .help("leave out its `[[slow_receiver]]`, or name other hosts")
        })?;
        let model = model(plan, host, config, profile.clone())?;
        ensure(models.insert(host, model).is_none(), || {
            Fault::at("hosts", format!("`{name}` has a model already"))
                .help("name every host in one `[[host_model]]` only")
        })?;
    }
    Ok(())
}

/// The model of one host: what its link and switch ask of the NIC's buffer.
fn model(
    plan: &Plan,
    host: NodeId,
    config: &HostModelConfig,
    mut profile: HostProfile,
) -> Result<HostModel, Fault> {
    if plan.infiniband.is_some() {
        let given = [
            ("buffer", config.buffer.is_some()),
            ("xoff", config.xoff.is_some()),
            ("xon", config.xon.is_some()),
        ];
        if let Some((key, _)) = given.into_iter().find(|&(_, is_given)| is_given) {
            return Err(Fault::at(
                key,
                "on InfiniBand credits hold senders up, and nothing pauses",
            )
            .help("leave it out; `infiniband.vl_buffer` is what a port has room for"));
        }
        profile.buffer = None;
    }
    let Some(buffer) = profile.buffer else {
        if plan.infiniband.is_none() {
            let given = [("xoff", config.xoff.is_some()), ("xon", config.xon.is_some())];
            if let Some((key, _)) = given.into_iter().find(|&(_, is_given)| is_given) {
                return Err(Fault::at(
                    key,
                    "a NIC without a limit of its buffer asks for no pauses",
                )
                .help("give `buffer` too"));
            }
        }
        let endless = Bytes::new(u64::MAX);
        return Ok(HostModel { profile, lossless: 0, xoff: endless, xon: endless });
    };
    let frame = plan.largest_frame();
    ensure(buffer >= frame.get(), || {
        Fault::at("buffer", format!("it has no room for a full frame, {frame}"))
            .value(Bytes::new(buffer).to_string())
            .help("give more, such as \"512KiB\"")
    })?;
    let lossless = lossless_of_host(plan, host);
    let headroom = headroom_of_host(plan, host, lossless).get();
    let name = &plan.topology.nodes[host as usize].name;
    let xoff = match config.xoff {
        Some(xoff) => xoff.get(),
        None if lossless == 0 => buffer,
        None => buffer.checked_sub(headroom).filter(|&xoff| xoff > 0).ok_or_else(|| {
            let message = format!(
                "a NIC's buffer of {} does not hold the headroom of `{name}`'s lossless priorities, {}",
                Bytes::new(buffer),
                Bytes::new(headroom)
            );
            Fault::at("buffer", message).help("give more, or `xoff`")
        })?,
    };
    ensure(xoff < buffer || lossless == 0, || {
        Fault::at("xoff", "it is no less than the buffer, so no pause is asked for")
            .value(Bytes::new(xoff).to_string())
            .help(format!("give less than the buffer, {}", Bytes::new(buffer)))
    })?;
    let frames = plan.largest_frame().get() * 2;
    let xon = config.xon.map_or_else(|| xoff.saturating_sub(frames), Bytes::get);
    ensure(xon <= xoff, || {
        Fault::at("xon", format!("that is more than XOFF, {}", Bytes::new(xoff)))
            .value(Bytes::new(xon).to_string())
            .help("give no more than `xoff`")
    })?;
    Ok(HostModel { profile, lossless, xoff: Bytes::new(xoff), xon: Bytes::new(xon) })
}

/// What hosts of these values are like.
fn profile(config: &HostModelConfig) -> Result<HostProfile, Fault> {
    let base = match config.profile {
        HostProfileName::Cx3 => HostProfile::preset(Preset::Cx3),
        HostProfileName::Cx5 => HostProfile::preset(Preset::Cx5),
        HostProfileName::Cx6 => HostProfile::preset(Preset::Cx6),
        HostProfileName::Cx7 => HostProfile::preset(Preset::Cx7),
        HostProfileName::None => HostProfile::none(),
    };
    let pcie = pcie(base.pcie, &config.pcie).map_err(|fault| fault.within("pcie"))?;
    let posting = posting(base.posting, &config.cpu).map_err(|fault| fault.within("cpu"))?;
    let caches = caches(base.caches, &config.caches).map_err(|fault| fault.within("caches"))?;
    let mut memory = memory(base.memory.clone(), &config.memory, caches.registered)
        .map_err(|fault| fault.within("memory"))?;
    memory.contention = contention(&config.contention)?;
    let buffer = config.buffer.map(Bytes::get).or(base.buffer);
    ensure(buffer != Some(0), || {
        Fault::at("buffer", "a NIC has memory").help("give a size above 0, such as \"512KiB\"")
    })?;
    check_together(config, pcie.is_some(), &caches, &memory)?;
    let base = HostProfile { pcie, posting, caches, memory, buffer, ..base };
    rates(base, &config.rates).map_err(|fault| fault.within("rates"))
}

/// What means nothing without something else.
fn check_together(
    config: &HostModelConfig,
    has_pcie: bool,
    caches: &CacheConfig,
    memory: &MemoryConfig,
) -> Result<(), Fault> {
    let given = config.caches.qp_contexts.map(|_| "caches.qp_contexts");
    let given = given.or(config.caches.translations.map(|_| "caches.translations"));
    let given = given.or(config.memory.iommu.map(|_| "memory.iommu"));
    if let (false, Some(key)) = (has_pcie, given) {
        return Err(Fault::at(key, "what is not there is read over PCIe, and there is none")
            .help("give `pcie`, or a `profile` that has it"));
    }
    ensure(config.memory.iommu.is_none() || caches.registered > 0, || {
        Fault::at("memory.iommu", "it matters only where in memory messages lie")
            .help("give `caches.registered` too, such as \"1GiB\"")
    })?;
    ensure(config.contention.is_empty() || memory.credits.is_some(), || {
        Fault::at("contention", "without credits memory takes everything at once")
            .help("give `memory.posted_credits` and `memory.credit_latency`, or a `profile` that has them")
    })
}

/// The longest time that is taken for one of a host.
const LONGEST: Duration = Duration::from_ms(1);

fn check_times(times: &[(&str, Option<Duration>)]) -> Result<(), Fault> {
    let long = times.iter().find(|(_, time)| time.is_some_and(|time| time > LONGEST));
    long.map_or(Ok(()), |&(key, time)| {
        Err(Fault::at(key, "no host takes that long")
            .value(time.unwrap_or_default().to_string())
            .help(format!("give at most {LONGEST}")))
    })
}

fn pcie(base: Option<Pcie>, config: &PcieConfig) -> Result<Option<Pcie>, Fault> {
    let Some(base) = base.or_else(|| {
        let free = Pcie {
            generation: 3,
            lanes: 16,
            max_payload: 256,
            max_read_request: 512,
            tags: 64,
            read_latency: Duration::ZERO,
            write_latency: Duration::ZERO,
            doorbell_latency: Duration::ZERO,
        };
        (*config != PcieConfig::default()).then_some(free)
    }) else {
        return Ok(None);
    };
    let known = |key: &str, value: u64, among: &[u64], unit: &str| {
        ensure(among.contains(&value), || {
            let all: Vec<String> = among.iter().map(u64::to_string).collect();
            Fault::at(key, format!("PCIe has no {unit} of this number"))
                .value(value.to_string())
                .help(format!("give one of {}", all.join(", ")))
        })
    };
    const SIZES: [u64; 6] = [128, 256, 512, 1024, 2048, 4096];
    let pcie = Pcie {
        generation: config.r#gen.unwrap_or(base.generation),
        lanes: config.lanes.unwrap_or(base.lanes),
        max_payload: config.mps.unwrap_or(base.max_payload),
        max_read_request: config.mrrs.unwrap_or(base.max_read_request),
        tags: config.tags.unwrap_or(base.tags),
        read_latency: config.read_latency.unwrap_or(base.read_latency),
        write_latency: config.write_latency.unwrap_or(base.write_latency),
        doorbell_latency: config.doorbell_latency.unwrap_or(base.doorbell_latency),
    };
    known("gen", pcie.generation.into(), &[1, 2, 3, 4, 5], "generation")?;
    known("lanes", pcie.lanes.into(), &[1, 2, 4, 8, 12, 16], "link")?;
    known("mps", pcie.max_payload.into(), &SIZES, "payload")?;
    known("mrrs", pcie.max_read_request.into(), &SIZES, "read")?;
    ensure((1..=1024).contains(&pcie.tags), || {
        Fault::at("tags", "a NIC has 1 to 1024 reads outstanding")
            .value(pcie.tags.to_string())
            .help("give 1 to 1024, such as 64")
    })?;
    check_times(&[
        ("read_latency", config.read_latency),
        ("write_latency", config.write_latency),
        ("doorbell_latency", config.doorbell_latency),
    ])?;
    Ok(Some(pcie))
}

/// Payload of the longest work request with its data in it: 15 blocks of 64 bytes, less headers.
const MOST_INLINE: u64 = 15 * 64 - 36;

/// The most threads of a program, and work requests of a doorbell.
const MOST_AT_ONCE: u16 = 1024;

fn posting(base: PostingConfig, config: &CpuConfig) -> Result<PostingConfig, Fault> {
    let some = |key: &str, value: Option<u16>| {
        ensure(value != Some(0), || {
            Fault::at(key, "there is one at least").help("give 1 or more")
        })?;
        ensure(value.is_none_or(|count| count <= MOST_AT_ONCE), || {
            Fault::at(key, "no host has so many")
                .value(value.unwrap_or_default())
                .help(format!("give at most {MOST_AT_ONCE}"))
        })
    };
    some("threads", config.threads)?;
    some("batch", config.batch)?;
    let inline = config.inline.map_or(u64::from(base.inline), Bytes::get);
    ensure(inline <= MOST_INLINE, || {
        Fault::at("inline", "no work request holds so much")
            .value(Bytes::new(inline).to_string())
            .help(format!("give at most {MOST_INLINE}B"))
    })?;
    let interrupt = match config.completion {
        CompletionConfig::Poll => base.interrupt,
        CompletionConfig::Interrupt(takes) => Some(takes),
    };
    check_times(&[
        ("post", config.post),
        ("doorbell", config.doorbell),
        ("poll", config.poll),
        ("completion.interrupt", interrupt),
    ])?;
    Ok(PostingConfig {
        threads: config.threads.unwrap_or(base.threads),
        post: config.post.unwrap_or(base.post),
        doorbell: config.doorbell.unwrap_or(base.doorbell),
        batch: config.batch.unwrap_or(base.batch),
        inline: u32::try_from(inline).unwrap_or(u32::MAX),
        poll: config.poll.unwrap_or(base.poll),
        interrupt,
    })
}

/// The most pages of registered memory.
const MOST_PAGES: u64 = 1 << 31;

fn caches(base: CacheConfig, config: &HostCachesConfig) -> Result<CacheConfig, Fault> {
    let some = |key: &str, value: Option<u32>| {
        ensure(value.is_none_or(|entries| (1..=MOST_ENTRIES).contains(&entries)), || {
            Fault::at(key, "a cache holds something, and not everything")
                .value(value.unwrap_or_default().to_string())
                .help(format!("give 1 to {MOST_ENTRIES}"))
        })
    };
    some("qp_contexts", config.qp_contexts)?;
    some("translations", config.translations)?;
    let page = config.page_size.map_or(base.page, Bytes::get);
    check_page("page_size", page)?;
    let registered = config.registered.map_or(base.registered, Bytes::get);
    ensure(registered / page <= MOST_PAGES, || {
        Fault::at("registered", "that is more pages than are counted")
            .value(Bytes::new(registered).to_string())
            .help("give less, or a larger `page_size`")
    })?;
    Ok(CacheConfig {
        contexts: config.qp_contexts.or(base.contexts),
        translations: config.translations.or(base.translations),
        page,
        registered,
        replacement: match config.replacement {
            Replacement::Random => rocelab_host::Replacement::Random,
            Replacement::Lru => rocelab_host::Replacement::LeastRecentlyUsed,
        },
        ..base
    })
}

/// The most entries of a cache.
const MOST_ENTRIES: u32 = 1 << 24;

fn check_page(key: &str, page: u64) -> Result<(), Fault> {
    ensure(page >= 4096 && page.is_power_of_two(), || {
        Fault::at(key, "no page has this size")
            .value(Bytes::new(page).to_string())
            .help("give a power of two of at least 4KiB, such as \"4KiB\" or \"2MiB\"")
    })
}

fn memory(
    base: MemoryConfig,
    config: &HostMemoryConfig,
    registered: u64,
) -> Result<MemoryConfig, Fault> {
    ensure(config.posted_credits != Some(0), || {
        Fault::at("posted_credits", "without credits nothing is written").help("give 1 or more")
    })?;
    check_times(&[("credit_latency", config.credit_latency)])?;
    if let Some(iommu) = &config.iommu {
        ensure((1..=MOST_ENTRIES).contains(&iommu.entries), || {
            Fault::at("iommu.entries", "a cache holds something")
                .value(iommu.entries.to_string())
                .help(format!("give 1 to {MOST_ENTRIES}, such as 64"))
        })?;
        check_page("iommu.page_size", iommu.page_size.get())?;
        ensure(registered / iommu.page_size.get() <= MOST_PAGES, || {
            Fault::at("iommu.page_size", "registered memory has more pages than are counted")
                .value(iommu.page_size.to_string())
                .help("give a larger one, or less `caches.registered`")
        })?;
        let times = [("iommu.walk", iommu.walk), ("iommu.walk_interval", iommu.walk_interval)];
        check_times(&times.map(|(key, time)| (key, Some(time))))?;
    }
    Ok(MemoryConfig {
        credits: config.posted_credits.or(base.credits),
        credit_latency: config.credit_latency.unwrap_or(base.credit_latency),
        contention: Vec::new(),
        paging: config.iommu.map(|iommu| Paging {
            entries: iommu.entries,
            page: iommu.page_size.get(),
            walk: iommu.walk,
            walk_interval: iommu.walk_interval,
        }),
    })
}

/// The most that contention slows memory.
const MOST_CONTENTION: f64 = 1000.0;

fn contention(configs: &[ContentionConfig]) -> Result<Vec<Contention>, Fault> {
    let mut steps = Vec::with_capacity(configs.len());
    for (index, config) in configs.iter().enumerate() {
        let key = |name: &str| format!("contention[{index}].{name}");
        ensure((1.0..=MOST_CONTENTION).contains(&config.factor), || {
            Fault::at(key("factor"), "others make memory slower, and not without end")
                .value(config.factor.to_string())
                .help(format!("give 1 to {MOST_CONTENTION}, such as 2"))
        })?;
        ensure(config.lasts > Duration::ZERO, || {
            Fault::at(key("lasts"), "it would be over at once").help("give a time above 0")
        })?;
        let until = config.at.saturating_add(config.lasts);
        steps.push((index, Contention { from: config.at, until, factor: config.factor }));
    }
    steps.sort_by_key(|(_, step)| step.from);
    for pair in steps.windows(2) {
        let [(_, before), (index, after)] = pair else { continue };
        ensure(before.until <= after.from, || {
            Fault::at(format!("contention[{index}].at"), "another one lasts until later")
                .value(after.from.to_string())
                .help(format!("let it begin at {} or later", before.until))
        })?;
    }
    Ok(steps.into_iter().map(|(_, step)| step).collect())
}

/// The most of anything a second.
const MOST_A_SECOND: f64 = 1e12;

fn rates(base: HostProfile, config: &HostRatesConfig) -> Result<HostProfile, Fault> {
    let given = [
        ("messages", config.messages),
        ("packets_per_queue_pair", config.packets_per_queue_pair),
        ("packets", config.packets),
        ("atomics", config.atomics),
    ];
    for (key, rate) in given {
        ensure(rate.is_none_or(|rate| (1.0..=MOST_A_SECOND).contains(&rate)), || {
            Fault::at(key, "it is a number a second, 1 or more")
                .value(rate.unwrap_or_default().to_string())
                .help("give such as 200e6")
        })?;
    }
    ensure(config.units != Some(0), || {
        Fault::at("units", "something handles what comes").help("give 1 or more")
    })?;
    check_times(&[
        ("transmit_latency", config.transmit_latency),
        ("receive_latency", config.receive_latency),
        ("control_latency", config.control_latency),
    ])?;
    let units = config.units.unwrap_or(base.transmit.units);
    let interval = |rate: Option<f64>, units: u8, usual: Duration| {
        rate.map_or(usual, |rate| interval_of(units, rate))
    };
    let service = interval(config.messages, units, base.transmit.service);
    Ok(HostProfile {
        transmit: PipelineConfig {
            units,
            service,
            latency: config.transmit_latency.unwrap_or(base.transmit.latency),
        },
        receive: PipelineConfig {
            units,
            service,
            latency: config.receive_latency.unwrap_or(base.receive.latency),
        },
        queue_pair_interval: interval(config.packets_per_queue_pair, 1, base.queue_pair_interval),
        packet_interval: interval(config.packets, 1, base.packet_interval),
        atomic_interval: interval(config.atomics, 1, base.atomic_interval),
        control_latency: config.control_latency.unwrap_or(base.control_latency),
        ..base
    })
}

/// How long each of these units is busy with one thing, if all of them handle so many a second.
fn interval_of(units: u8, rate: f64) -> Duration {
    #[expect(clippy::cast_possible_truncation, reason = "at most 255 seconds")]
    #[expect(clippy::cast_sign_loss, reason = "a rate is above zero")]
    Duration::from_ps((PS_A_SECOND * f64::from(units) / rate) as u64)
}

/// The rate of which [`interval_of`] makes this time; `None` if no rate that may be given does.
fn rate_of(units: u8, interval: Duration) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "what was lost is looked for below")]
    let rate = PS_A_SECOND * f64::from(units) / interval.ps() as f64;
    // A quotient that was rounded may be of the picosecond before.
    let near = [rate, rate.next_down(), rate.next_up()];
    near.into_iter()
        .find(|&rate| (1.0..=MOST_A_SECOND).contains(&rate) && interval_of(units, rate) == interval)
}

const PS_A_SECOND: f64 = 1e12;
