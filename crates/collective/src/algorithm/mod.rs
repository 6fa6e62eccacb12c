//! The algorithms: one file each, and one line each in the list below.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::collective::{Collective, Kind};
use crate::error::Error;
use crate::options::Options;
use crate::schedule::Schedule;

/// Makes modules, names, schema and the list of algorithms. Each module has `SUMMARY`, `KINDS` and a function `schedule`, which is
/// only asked for those kinds, and with options that [`Options::check`] has found to be right.
macro_rules! algorithms {
    ($($(#[doc = $doc:literal])* $variant:ident = $name:literal => $module:ident,)*) => {
        $(mod $module;)*

        /// An algorithm for collective operations.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        pub enum Algorithm {
            $($(#[doc = $doc])* #[serde(rename = $name)] $variant,)*
        }

        impl Algorithm {
            /// Every algorithm, in the order of the list.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The name that a scenario uses.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// What it does, in one line.
            pub const fn summary(self) -> &'static str {
                match self {
                    $(Self::$variant => $module::SUMMARY,)*
                }
            }

            /// The kinds of operations that it does.
            pub const fn kinds(self) -> &'static [Kind] {
                match self {
                    $(Self::$variant => $module::KINDS,)*
                }
            }

            /// What each rank does.
            ///
            /// # Errors
            /// A kind that it does not do, a number of ranks that it cannot do, and options that do not fit.
            pub fn schedule(self, collective: &Collective, options: &Options) -> Result<Box<dyn Schedule>, Error> {
                self.check_kind(collective.kind())?;
                options.check(collective)?;
                match self {
                    $(Self::$variant => $module::schedule(collective, options),)*
                }
            }
        }
    };
}

algorithms! {
    /// Each rank sends to the next one in a ring, or in a chain.
    Ring = "ring" => ring,
}

impl Algorithm {
    fn check_kind(self, kind: Kind) -> Result<(), Error> {
        if self.kinds().contains(&kind) {
            return Ok(());
        }
        let fitting = Self::ALL.iter().filter(|one| one.kinds().contains(&kind));
        let names: Vec<_> = fitting.map(|one| one.name()).collect();
        let reason = format!("it does no {}", kind.name());
        Err(Error::new("algorithm", self.name(), reason, format!("write {}", names.join(", "))))
    }
}
