//! Which flows react to congestion how: as their workload says, else as their class, else as all.

use rocelab_transport::Algorithm;

use super::keys::attributes_of;
use crate::scenario::{Priority, QueuePairAttributes, RoceVersion, Scenario};
use crate::workload::{self, Workload};

/// Where the scenario names the congestion control of all flows.
const OF_ALL: &str = "congestion_control";

/// A congestion control, and where the scenario names it.
#[derive(Clone, Debug)]
pub(super) struct Named<'a> {
    /// The key that holds the choice, such as `class.4.congestion_control`.
    key: String,
    pub(super) algorithm: &'a Algorithm,
}

impl Named<'_> {
    /// Its own table, such as `class.4.congestion_control.timely`.
    pub(super) fn section(&self) -> String {
        format!("{}.{}", self.key, self.algorithm.name())
    }
}

/// Every congestion control that the scenario names.
pub(super) fn named(scenario: &Scenario) -> Vec<Named<'_>> {
    let mut all = common(scenario);
    let items = workload::items(&scenario.workload);
    all.extend(items.into_iter().filter_map(|(name, item)| of_item(&name, item)));
    all
}

/// Those that flows can use: some may be hidden by what all workloads say themselves.
pub(super) fn usable(scenario: &Scenario) -> Vec<Named<'_>> {
    let items = workload::items(&scenario.workload);
    let own: Vec<_> = items.iter().filter_map(|(name, item)| of_item(name, *item)).collect();
    let mut all = if own.len() < items.len() { common(scenario) } else { Vec::new() };
    all.extend(own);
    all
}

/// Those of all flows and of classes.
fn common(scenario: &Scenario) -> Vec<Named<'_>> {
    let of_all = scenario.congestion_control.iter();
    let mut all: Vec<_> = of_all.map(|algorithm| Named { key: OF_ALL.into(), algorithm }).collect();
    let priorities = (0..=7).filter_map(Priority::new);
    all.extend(priorities.filter_map(|priority| of_class(scenario, priority)));
    all
}

fn of_class(scenario: &Scenario, priority: Priority) -> Option<Named<'_>> {
    let algorithm = scenario.class.get(&priority)?.congestion_control.as_ref()?;
    Some(Named { key: format!("class.{}.{OF_ALL}", priority.number()), algorithm })
}

/// The congestion control of a workload's flows of a priority.
fn used<'a>(
    scenario: &'a Scenario,
    name: &str,
    item: &'a dyn Workload,
    priority: u8,
) -> Option<Named<'a>> {
    of_item(name, item).or_else(|| of_class(scenario, Priority::new(priority)?)).or_else(|| {
        let algorithm = scenario.congestion_control.as_ref()?;
        Some(Named { key: OF_ALL.into(), algorithm })
    })
}

/// Whether data of a priority of which workloads say nothing themselves are ECN-capable.
pub(super) fn makes_ecn_capable(scenario: &Scenario, priority: u8) -> bool {
    let of_class = Priority::new(priority).and_then(|priority| of_class(scenario, priority));
    let algorithm = of_class.map(|named| named.algorithm).or(scenario.congestion_control.as_ref());
    algorithm.is_some_and(|algorithm| is_ecn_capable(scenario, algorithm))
}

/// Whether data of queue pairs with this congestion control are ECN-capable.
pub(super) fn is_ecn_capable(scenario: &Scenario, algorithm: &Algorithm) -> bool {
    // Switches of InfiniBand mark whatever is sent. Its mark, FECN, has the place of "congestion experienced" here.
    match &scenario.infiniband {
        Some(infiniband) => infiniband.congestion_control.is_some(),
        None => scenario.roce.version == RoceVersion::V2 && algorithm.needs_ecn(),
    }
}

fn of_item<'a>(name: &str, item: &'a dyn Workload) -> Option<Named<'a>> {
    let algorithm = item.congestion_control()?;
    Some(Named { key: format!("{name}.{OF_ALL}"), algorithm })
}

/// The congestion controls that flows use, with the attributes of their queue pairs, each once, in the order of their first
/// use.
pub(super) struct InUse<'a> {
    scenario: &'a Scenario,
    all: Vec<Named<'a>>,
    attributes: Vec<QueuePairAttributes>,
    /// Their places by workload and priority, as far as they were asked for.
    places: Vec<[Option<u32>; 8]>,
}

impl<'a> InUse<'a> {
    pub(super) fn new(scenario: &'a Scenario) -> Self {
        Self { scenario, all: Vec::new(), attributes: Vec::new(), places: Vec::new() }
    }

    /// The place of what the flows of a priority use in workload number `index`.
    pub(super) fn place(
        &mut self,
        (index, name, item): (usize, &str, &'a dyn Workload),
        priority: u8,
    ) -> u32 {
        if self.places.len() <= index {
            self.places.resize(index + 1, [None; 8]);
        }
        let slot = usize::from(priority & 0b111);
        if let Some(place) = self.places[index][slot] {
            return place;
        }
        let named = used(self.scenario, name, item, priority);
        let named = named.expect("a resolved scenario names its algorithm");
        let attributes = attributes_of(self.scenario, item, priority);
        let mut known = self.all.iter().zip(&self.attributes);
        let known = known.position(|(known, having)| {
            known.algorithm == named.algorithm && *having == attributes
        });
        let place = known.unwrap_or(self.all.len());
        if known.is_none() {
            self.all.push(named);
            self.attributes.push(attributes);
        }
        let place = u32::try_from(place).unwrap_or(u32::MAX);
        self.places[index][slot] = Some(place);
        place
    }

    /// Where no flow uses any, that of all flows: queue pairs have parameters even if there are none.
    pub(super) fn name_one(&mut self) {
        if self.all.is_empty()
            && let Some(algorithm) = &self.scenario.congestion_control
        {
            self.all.push(Named { key: OF_ALL.into(), algorithm });
            self.attributes.push(self.scenario.roce.queue_pair.clone());
        }
    }

    /// The attributes of queue pairs, by place.
    pub(super) fn attributes(&self) -> &[QueuePairAttributes] {
        &self.attributes
    }

    /// All of them, by place.
    pub(super) fn all(&self) -> &[Named<'a>] {
        &self.all
    }
}
