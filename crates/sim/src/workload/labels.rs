//! What the results call a workload.

/// What the results call a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkloadLabels {
    /// Its kind and its number among those of its kind, such as `incast[0]`.
    pub key: String,
    /// Its name; without one, its key.
    pub name: String,
}
