//! Settings of single switches and ports that differ from those of all.

use std::collections::BTreeMap;

use rocelab_units::{Bytes, Duration, Ratio};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::priority::by_priority_schema;
use crate::switch_config::{EcnConfig, Headroom, OtherCodePoints, SwitchForwarding, Trust};
use crate::{
    ForwardingPlane, LinkFlowControl, LoadBalancing, Priority, QcnConfig, SchedulerConfig,
    ShaperConfig, SwitchConfig,
};

/// Declares the keys that may be overridden, and how.
macro_rules! overrides {
    ($($(#[$attribute:meta])* $scope:ident $key:ident: $kind:ty,)*) => {
        /// Parameters of some switches or ports, in place of those of all. The keys mean what they
        /// do in [`SwitchConfig`].
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields, default)]
        pub struct SwitchOverride {
            /// Switches: names, or ranges of names such as `leaf-0..leaf-3` (both ends included).
            #[serde(skip_serializing_if = "Vec::is_empty")]
            pub switches: Vec<String>,
            /// Ports of switches: `leaf-0:3`.
            #[serde(skip_serializing_if = "Vec::is_empty")]
            pub ports: Vec<String>,
            $(
                #[doc = concat!("As [`SwitchConfig::", stringify!($key), "`].")]
                #[serde(skip_serializing_if = "Option::is_none")]
                $(#[$attribute])*
                pub $key: Option<$kind>,
            )*
        }

        impl SwitchOverride {
            /// Sets the keys that are given here in `config`.
            pub fn apply(&self, config: &mut SwitchConfig) {
                $(overrides!(@set $scope self config $key);)*
            }

            /// The first key that is set here and that only a whole switch can have, not a single
            /// port.
            pub fn key_of_whole_switch(&self) -> Option<&'static str> {
                $(overrides!(@whole $scope self $key);)*
                None
            }
        }
    };
    (@set some $self:ident $config:ident $key:ident) => {
        if $self.$key.is_some() {
            $config.$key.clone_from(&$self.$key);
        }
    };
    (@set some_port $self:ident $config:ident $key:ident) => {
        overrides!(@set some $self $config $key)
    };
    (@set $scope:ident $self:ident $config:ident $key:ident) => {
        if let Some(value) = &$self.$key {
            $config.$key.clone_from(value);
        }
    };
    (@whole port $self:ident $key:ident) => {};
    (@whole some_port $self:ident $key:ident) => {};
    (@whole $scope:ident $self:ident $key:ident) => {
        if $self.$key.is_some() {
            return Some(stringify!($key));
        }
    };
}

// `switch`: a key of whole switches only; `port`: also of single ports; `some`, `some_port`: the
// same, for optional keys.
overrides! {
    switch buffer: Bytes,
    switch alpha: Ratio,
    #[schemars(schema_with = "by_priority_schema::<Ratio>")]
    switch priority_alpha: BTreeMap<Priority, Ratio>,
    some egress_alpha: Ratio,
    some lossy_ingress_alpha: Ratio,
    some lossless_egress_limit: Bytes,
    some xoff: Bytes,
    switch xon_offset: Bytes,
    switch reserve: Bytes,
    switch egress_reserve: Bytes,
    switch cell: Bytes,
    some headroom_pool: Bytes,
    port headroom: Headroom,
    switch lossless: Vec<u8>,
    some_port ecn: EcnConfig,
    some_port qcn: QcnConfig,
    port scheduler: SchedulerConfig,
    #[schemars(schema_with = "by_priority_schema::<ShaperConfig>")]
    port shapers: BTreeMap<Priority, ShaperConfig>,
    switch trust: Trust,
    switch priority_of: BTreeMap<String, u8>,
    switch other_code_points: OtherCodePoints,
    switch default_priority: u8,
    #[schemars(schema_with = "by_priority_schema::<u8>")]
    switch queue_of: BTreeMap<Priority, u8>,
    switch forwarding: SwitchForwarding,
    switch forwarding_plane: ForwardingPlane,
    switch load_balancing: LoadBalancing,
    port flow_control: LinkFlowControl,
    switch latency: Duration,
    port pause_response: Duration,
    port pause_quanta: u16,
}
