//! An access list: what comes in with priorities that are not for this port is dropped.

use rocelab_state::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Admit, Condition, IngressFrame, InvalidIngress, check_priorities};

/// `[[ingress.access_list]]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "AccessListParameters")]
pub struct Parameters {
    /// Ports of switches: `leaf-0:3`, or all of `leaf-0`.
    pub ports: Vec<String>,
    /// The priorities whose frames are dropped, as they come in. Pause frames have none.
    #[schemars(inner(range(max = 7)))]
    pub deny: Vec<u8>,
}

impl Condition for Parameters {
    type AtPort = AtPort;

    fn check(&self, _: u64) -> Result<(), InvalidIngress> {
        check_priorities("deny", &self.deny)
    }

    fn at_port(&self) -> AtPort {
        AtPort { denied: self.deny.iter().fold(0, |mask, priority| mask | 1 << (priority & 7)) }
    }
}

/// The access list of a port. It has no state but its setting.
#[derive(Debug)]
pub struct AtPort {
    /// Bit p: frames of priority p are dropped.
    denied: u8,
}

impl State for AtPort {
    fn save(&self, _: &mut Vec<u8>) -> rocelab_state::Result {
        Ok(())
    }

    fn load(&mut self, _: &mut &[u8]) -> rocelab_state::Result {
        Ok(())
    }
}

impl Admit for AtPort {
    fn admits(&mut self, frame: &IngressFrame) -> bool {
        self.denied & 1 << (frame.priority & 7) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::frame;
    use super::*;

    #[test]
    fn what_is_denied_is_dropped_and_nothing_else() {
        let parameters = Parameters { ports: Vec::new(), deny: vec![3, 5] };
        assert_eq!(parameters.check(1_500), Ok(()));
        let mut list = parameters.at_port();
        let admitted = (0..8).filter(|&priority| list.admits(&frame(0, priority)));
        assert_eq!(admitted.collect::<Vec<_>>(), [0, 1, 2, 4, 6, 7]);
    }

    #[test]
    fn a_list_that_denies_nothing_is_refused() {
        for (deny, problem) in
            [(Vec::new(), "that selects no priorities"), (vec![3, 9], "9 is no priority")]
        {
            let parameters = Parameters { ports: Vec::new(), deny };
            let invalid = parameters.check(1_500).unwrap_err();
            assert_eq!((invalid.key, invalid.problem.as_str()), ("deny", problem));
        }
    }
}
