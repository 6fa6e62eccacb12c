//! A module as an algorithm of the transport.

use std::collections::BTreeMap;
use std::sync::Arc;

use rocelab_transport::congestion_control::wasm::Value;
use rocelab_transport::congestion_control::{
    CongestionControl, ControlFault, ExternalAlgorithm, Feedback, Loaded, Path,
};
use rocelab_units::Bandwidth;

use crate::control::Controller;
use crate::fault::Latch;
use crate::instance::Key;
use crate::module::GuestModule;
use crate::queue_pair::{ModuleGuest, Settings, Shared};
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
        let settings = Settings::new(&values, fuel);
        let key = Key::new(&module, fuel);
        Ok(Self(Arc::new(Shared { module, key, values, settings, latch: Latch::default() })))
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

    fn version(&self) -> &str {
        &self.0.module.metadata().version
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
        Box::new(Controller::open(ModuleGuest::new(Arc::clone(&self.0), path), path))
    }

    fn fault(&self) -> Option<ControlFault> {
        self.0.latch.first()
    }

    fn for_run(&self) -> Loaded {
        let Shared { module, key, values, settings, latch: _ } = &*self.0;
        let shared = Shared {
            module: Arc::clone(module),
            key: *key,
            values: values.clone(),
            settings: settings.clone(),
            latch: Latch::default(),
        };
        Loaded(Arc::new(Self(Arc::new(shared))))
    }
}
