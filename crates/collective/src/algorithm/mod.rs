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
    /// Two binary trees, each with half of the data, up and down at the same time.
    DoubleBinaryTree = "double-binary-tree" => double_binary_tree,
    /// Pairs exchange halves, halves of them, and so on, and then go back.
    HalvingDoubling = "halving-doubling" => halving_doubling,
    /// Pairs exchange all that they have.
    RecursiveDoubling = "recursive-doubling" => recursive_doubling,
    /// Each rank sends to each other one, all at once.
    Direct = "direct" => direct,
    /// Each rank sends to each other one, one after the other.
    Pairwise = "pairwise" => pairwise,
    /// Each rank sends to each other one, in the order in which NCCL does.
    NcclSendReceive = "nccl-send-receive" => nccl_send_receive,
    /// All-to-all through the local rank on the destination's rail.
    Pxn = "pxn" => pxn,
    /// A logarithm of steps, for any number of ranks.
    Bruck = "bruck" => bruck,
    /// A binomial tree from the root, or to it.
    Binomial = "binomial" => binomial,
    /// The root talks to each; in an all-to-all, all ranks begin with rank 0.
    Linear = "linear" => linear,
    /// Inside servers, then in a ring over each rail, and back.
    Hierarchical = "hierarchical" => hierarchical,
    /// NVLink switches add up and multicast; rings between servers.
    Nvls = "nvls" => nvls,
}

mod rotation;

/// The logarithm of the ranks.
fn power_of_two(algorithm: &'static str, ranks: u32) -> Result<u32, Error> {
    if ranks.is_power_of_two() {
        return Ok(ranks.trailing_zeros());
    }
    let reason = format!("{ranks} ranks are no power of two");
    Err(Error::new("algorithm", algorithm, reason, "write ring, or name 2, 4, 8, ... ranks"))
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
