//! A module as an algorithm of the transport.

use std::collections::BTreeMap;
use std::sync::Arc;

use rocelab_transport::congestion_control::wasm::Value;
use rocelab_transport::congestion_control::{
    CongestionControl, ControlFault, ExternalAlgorithm, Feedback, Loaded, Path,
};
use rocelab_units::Bandwidth;

use crate::control::{Controller, Shared};
use crate::fault::Latch;
use crate::module::GuestModule;
use crate::values::{InvalidValue, values};

/// A module with values of its parameters.
#[derive(Debug)]
pub struct GuestAlgorithm(Arc<Shared>);

impl GuestAlgorithm {
    /// A module with the parameters of a scenario, each call of which may take so many instructions.
    ///
    /// # Errors
    /// A parameter that the module does not have, or not so.
    pub fn new(
        module: Arc<GuestModule>,
        given: &BTreeMap<String, Value>,
        fuel: u64,
    ) -> Result<Self, InvalidValue> {
        let values = values(module.metadata(), given)?;
        Ok(Self(Arc::new(Shared { module, values, fuel, latch: Latch::default() })))
    }

    /// The module.
    pub fn module(&self) -> &GuestModule {
        &self.0.module
    }

    /// The values of its parameters, in the order of its metadata.
    pub fn ordered_values(&self) -> &[i64] {
        &self.0.values
    }
}

impl ExternalAlgorithm for GuestAlgorithm {
    fn label(&self) -> &str {
        self.0.module.label()
    }

    fn identity(&self) -> &str {
        self.0.module.identity()
    }

    fn values(&self) -> BTreeMap<String, i64> {
        let keys = self.0.module.metadata().parameters.iter().map(|one| one.key.clone());
        keys.zip(self.0.values.iter().copied()).collect()
    }

    fn feedback(&self, _: Bandwidth) -> Feedback {
        self.0.module.metadata().feedback()
    }

    fn build(&self, path: &Path) -> Box<dyn CongestionControl> {
        Box::new(Controller::open(Arc::clone(&self.0), path))
    }

    fn fault(&self) -> Option<ControlFault> {
        self.0.latch.first()
    }

    fn for_run(&self) -> Loaded {
        let Shared { module, values, fuel, latch: _ } = &*self.0;
        let shared = Shared {
            module: Arc::clone(module),
            values: values.clone(),
            fuel: *fuel,
            latch: Latch::default(),
        };
        Loaded(Arc::new(Self(Arc::new(shared))))
    }
}
