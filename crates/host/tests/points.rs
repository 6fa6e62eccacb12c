//! Published figures, and closed forms, that the stations of a host are held to.
//!
//! Each test drives a [`HostPath`] as a simulation does, and counts. Bands are those within which the figures are known.

use rocelab_host::{
    Arriving, ContextCache, HostPath, HostProfile, Kind, Later, Paging, Pcie, Posted, Preset,
    Replacement,
};
use rocelab_units::{Duration, SimTime};

fn assert_within(measured: f64, low: f64, high: f64) {
    assert!((low..=high).contains(&measured), "{measured} is not within {low} and {high}");
}

fn about(measured: f64, expected: f64, share: f64) {
    assert_within(measured, expected * (1.0 - share), expected * (1.0 + share));
}

fn link(generation: u8) -> Pcie {
    Pcie {
        generation,
        lanes: 16,
        max_payload: 256,
        max_read_request: 512,
        tags: 256,
        read_latency: Duration::from_ns(480),
        write_latency: Duration::from_ns(240),
        doorbell_latency: Duration::from_ns(140),
    }
}

/// A host with this PCIe link, at which nothing else takes time.
fn host(pcie: Pcie) -> HostPath {
    HostPath::new(HostProfile { pcie: Some(pcie), ..HostProfile::none() }, 1)
}

/// Gbit/s of payload that frames of this many bytes bring into memory, all of which are there at once.
fn written(path: &mut HostPath, bytes: u32, count: u32) -> f64 {
    for _ in 0..count {
        let frame = Arriving {
            index: 0,
            frame_len: bytes,
            payload: bytes,
            begins: true,
            is_request: true,
            reads: 0,
            is_atomic: false,
            credited: false,
        };
        assert!(path.accept(SimTime::ZERO, &frame).is_some());
    }
    let end = path.drained_to(0);
    f64::from(bytes) * f64::from(count) * 8.0 / end.as_secs_f64() / 1e9
}

/// Gbit/s of payload that requests to read so many bytes get out of memory, all of which are there at once.
fn read(path: &mut HostPath, bytes: u32, count: u32) -> f64 {
    let mut last = SimTime::ZERO;
    for index in 0..count {
        let frame = Arriving {
            index,
            frame_len: 0,
            payload: 0,
            begins: true,
            is_request: true,
            reads: bytes,
            is_atomic: false,
            credited: false,
        };
        last = last.max(path.accept(SimTime::ZERO, &frame).expect("there is room").at);
    }
    gbps(bytes, count, last)
}

/// When each of so many work requests, one for each queue pair, is ready; all are posted at once.
fn posted(
    path: &mut HostPath,
    (kind, bytes): (Kind, u32),
    count: u32,
    queue_pairs: u32,
) -> SimTime {
    let work = |number| Posted { index: number % queue_pairs, kind, bytes };
    all_ready(path, (0..count).map(|number| (SimTime::ZERO, work(number))))
}

/// Programs post these, by the time; the NIC takes each up as soon as it may. Gives when the last one's first packet may leave.
fn all_ready(path: &mut HostPath, works: impl Iterator<Item = (SimTime, Posted)>) -> SimTime {
    let (mut coming, mut last) = (Later::default(), SimTime::ZERO);
    let mut take_up = |path: &mut HostPath, coming: &mut Later<Posted>, until: SimTime| {
        while let may = coming.next()
            && may.max(path.unit_free_at()) <= until
            && let Some(work) = coming.pop_due(may)
        {
            last = last.max(path.take_up(may.max(path.unit_free_at()), work));
        }
    };
    for (now, work) in works {
        take_up(path, &mut coming, now);
        let may = path.post(now, work);
        coming.push(may, work);
    }
    take_up(path, &mut coming, SimTime::LATEST);
    last
}

fn gbps(bytes: u32, count: u32, end: SimTime) -> f64 {
    f64::from(bytes) * f64::from(count) * 8.0 / end.as_secs_f64() / 1e9
}

/// Points 1 to 3: PCIe by the model of pcie-bench.
#[test]
fn pcie_carries_what_its_headers_leave() {
    for (generation, writes, reads) in [(3, 104.0, 105.5), (4, 207.9, 210.9), (5, 415.8, 421.8)] {
        about(written(&mut host(link(generation)), 4096, 5_000), writes, 0.01);
        about(read(&mut host(link(generation)), 4096, 5_000), reads, 0.01);
    }
    about(written(&mut host(link(5)), 64, 50_000), 330.8, 0.01);
    let eight = Pcie { lanes: 8, ..link(3) };
    about(written(&mut host(eight), 256, 20_000), 52.9, 0.01);
    about(eight.packet_rate().bits_per_second() as f64 / 1e9, 57.9, 0.002);
    let long = Pcie { max_payload: 512, max_read_request: 4096, ..link(3) };
    about(long.packet_rate().bits_per_second() as f64 / 1e9, 114.6, 0.002);
}

/// Reads outstanding bound what they bring: 32 of 256 bytes in 900 ns are 73 Gbit/s.
#[test]
fn reads_are_bound_by_tags() {
    let few =
        Pcie { tags: 32, max_read_request: 256, read_latency: Duration::from_ns(900), ..link(3) };
    // A tag is taken until the last byte is there, 19 ns after the first.
    about(read(&mut host(few), 4096, 4_000), 72.8 * 900.0 / 919.0, 0.01);
    about(few.read_goodput() / 1e9, 72.8, 0.01);
}

/// Point 12: messages a second of one machine, of many queue pairs and of few.
#[test]
fn message_rates_are_bound_by_the_pipeline_and_by_queue_pairs() {
    let mut profile = HostProfile::preset(Preset::Cx5);
    profile.posting.threads = 64;
    profile.caches.contexts = None;
    // Connect-IB: 94 million READs a second out of one machine, 71 million with few queue pairs.
    profile.transmit.units = 8;
    profile.transmit.service = Duration::from_ns(85);
    let rate = |queue_pairs| {
        let mut path = HostPath::new(profile.clone(), 1);
        let end = posted(&mut path, (Kind::Inbound, 32), 100_000, queue_pairs);
        100_000.0 / end.as_secs_f64() / 1e6
    };
    about(rate(64), 94.0, 0.2);
    about(rate(8), 71.0, 0.2);
}

/// READs a second of one NIC with so many connections, which are used at random: millions.
fn reads_of(preset: Preset, connections: u32) -> f64 {
    let mut profile = HostProfile::preset(preset);
    profile.posting.threads = 64;
    profile.queue_pair_interval = Duration::ZERO;
    let mut path = HostPath::new(profile, 7);
    let (count, mut chosen) = (200_000u32, 12_345u32);
    let works = (0..count).map(|number| {
        chosen = chosen.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let index = (chosen >> 8) % connections;
        // Programs post 47 million a second, no more.
        let now = SimTime::from_ps(u64::from(number) * 21_276);
        (now, Posted { index, kind: Kind::Inbound, bytes: 16 })
    });
    let last = all_ready(&mut path, works);
    f64::from(count) / last.as_secs_f64() / 1e6
}

/// Point 13: contexts that are not in the cache (eRPC, NSDI 2019, figure 1), and generations in their order.
#[test]
fn many_connections_cost_context_misses() {
    let peak = reads_of(Preset::Cx5, 64);
    assert!(reads_of(Preset::Cx5, 256) >= 0.9 * peak);
    assert_within(reads_of(Preset::Cx5, 5_000) / peak, 0.35, 0.65);
    let shares: Vec<f64> = [Preset::Cx3, Preset::Cx5, Preset::Cx6, Preset::Cx7]
        .map(|preset| reads_of(preset, 5_000) / reads_of(preset, 64))
        .into();
    assert!(shares.is_sorted(), "{shares:?}");
    assert!(reads_of(Preset::Cx3, 1_000) < 0.6 * reads_of(Preset::Cx3, 64));
}

/// Point 14: translations suffice for exactly as many pages as there are entries.
#[test]
fn registered_memory_costs_nothing_up_to_the_entries() {
    let misses_after_warming = |registered: u64, page: u64| {
        let mut profile = HostProfile::preset(Preset::Cx3);
        profile.caches.registered = registered;
        profile.caches.page = page;
        let mut path = HostPath::new(profile, 3);
        let post = |path: &mut HostPath| {
            let work = Posted { index: 0, kind: Kind::Outbound, bytes: 1024 };
            all_ready(path, (0..40_000).map(|_| (SimTime::ZERO, work)));
            path.counts().translations.misses
        };
        let warming = post(&mut path);
        post(&mut path) - warming
    };
    let (small, large) = (4 << 10, 2 << 20);
    assert_eq!(misses_after_warming(2048 * small, small), 0);
    assert!(misses_after_warming(2048 * small * 5 / 4, small) > 1_000);
    assert_eq!(misses_after_warming(2048 * large, large), 0);
    assert!(misses_after_warming(2048 * large * 5 / 4, large) > 1_000);
}

/// Point 15: page walks of an IOMMU slow small reads, and large ones not (SIGCOMM 2018, section 6.5).
#[test]
fn an_iommu_slows_small_reads() {
    let rate = |bytes: u32, window: u64| {
        let mut profile = HostProfile::none();
        profile.pcie = Some(Pcie { lanes: 8, ..link(3) });
        profile.memory.paging = Some(Paging::small_pages());
        profile.caches.registered = window;
        let mut path = HostPath::new(profile, 5);
        let end = posted(&mut path, (Kind::Outbound, bytes), 50_000, 50_000);
        gbps(bytes, 50_000, end)
    };
    let falls = |bytes| 1.0 - rate(bytes, 1 << 20) / rate(bytes, 256 << 10);
    assert_within(falls(64), 0.55, 0.85);
    assert_within(falls(256), 0.15, 0.45);
    assert!(falls(512) < 0.1, "{}", falls(512));
}

/// Point 18: one doorbell for many requests.
#[test]
fn doorbell_batching_lets_a_processor_post_more() {
    let rate = |batch| {
        let mut profile = HostProfile::preset(Preset::Cx5);
        profile.posting.batch = batch;
        profile.queue_pair_interval = Duration::ZERO;
        let end = posted(&mut HostPath::new(profile, 1), (Kind::Outbound, 32), 32_000, 1);
        32_000.0 / end.as_secs_f64()
    };
    assert_within(rate(32) / rate(1), 1.8, 3.0);
}

/// Point 19: 92 cache lines on their way into memory.
#[test]
fn credits_of_memory_bound_what_arrives() {
    for (latency, expected) in [(450, 104.7), (900, 52.3)] {
        let mut profile = HostProfile::none();
        profile.pcie = Some(link(4));
        profile.memory.credits = Some(92);
        profile.memory.credit_latency = Duration::from_ns(latency);
        about(written(&mut HostPath::new(profile, 1), 4096, 5_000), expected, 0.02);
    }
}

/// As many consecutive numbers fit as there are entries, of any count of entries.
#[test]
fn a_cache_holds_as_many_as_it_has_entries() {
    for entries in [1, 5, 8, 13, 200, 1201] {
        let mut cache = ContextCache::new(entries, Replacement::Random, 9);
        for _ in 0..3 {
            (0..entries).for_each(|number| _ = cache.has(number));
        }
        assert_eq!(cache.counts().misses, u64::from(entries));
        cache.has(entries);
        (0..=entries).for_each(|number| _ = cache.has(number));
        assert!(cache.counts().misses > u64::from(entries) + 1);
    }
}

/// Of what is used in turn, a cache that is too small keeps a share.
#[test]
fn a_cache_that_is_too_small_has_a_slope_and_no_cliff() {
    let share = |replacement| {
        let mut cache = ContextCache::new(1_000, replacement, 9);
        for _ in 0..50 {
            (0..1_250).for_each(|number| _ = cache.has(number));
        }
        let counts = cache.counts();
        counts.hits as f64 / (counts.hits + counts.misses) as f64
    };
    assert_within(share(Replacement::Random), 0.3, 0.8);
    assert_within(share(Replacement::LeastRecentlyUsed), 0.0, 0.0);
}
