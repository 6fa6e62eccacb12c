//! Samplers in checkpoints: those of a node, with what they remember.

use rocelab_fabric::NodeId;
use rocelab_state::{Result, State};

use super::samplers::{Measured, Sampling};

impl Sampling {
    /// Saves the samplers of a node.
    pub(in crate::network) fn save_node(&self, node: NodeId, to: &mut Vec<u8>) -> Result {
        for &place in self.of_node(node) {
            let sampler = &self.samplers[place as usize];
            sampler.save(to)?;
            match &sampler.what {
                Measured::Rates(flows) => {
                    flows.iter().try_for_each(|&flow| self.flows[flow].save(to))?;
                }
                Measured::Flows(ends) => {
                    ends.iter().try_for_each(|&end| self.watched.ends[end].save(to))?;
                }
                Measured::Goodput(flows) => {
                    flows.iter().try_for_each(|&flow| self.received[flow].save(to))?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Loads the samplers of a node.
    pub(in crate::network) fn load_node(&mut self, node: NodeId, from: &mut &[u8]) -> Result {
        for place in self.of_node(node).to_vec() {
            let sampler = &mut self.samplers[place as usize];
            sampler.load(from)?;
            match &sampler.what {
                Measured::Rates(flows) => {
                    flows.iter().try_for_each(|&flow| self.flows[flow].load(from))?;
                }
                Measured::Flows(ends) => {
                    ends.iter().try_for_each(|&end| self.watched.ends[end].load(from))?;
                }
                Measured::Goodput(flows) => {
                    flows.iter().try_for_each(|&flow| self.received[flow].load(from))?;
                }
                _ => {}
            }
        }
        Ok(())
    }
}
