//! What is to be done: kinds of operations, ranks and bytes.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::Error;

/// Makes the kinds and their names.
macro_rules! kinds {
    ($($(#[doc = $doc:literal])* $variant:ident = $name:literal,)*) => {
        /// A kind of collective operation among n ranks. Each says what its bytes S are, as nccl-tests counts them.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        pub enum Kind {
            $($(#[doc = $doc])* #[serde(rename = $name)] $variant,)*
        }

        impl Kind {
            /// Every kind.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The name that a scenario uses.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }
    };
}

kinds! {
    /// All ranks get the sum of what all have. S: the buffer of a rank.
    AllReduce = "all-reduce",
    /// All ranks get the blocks of all. S: n blocks, the output of a rank.
    AllGather = "all-gather",
    /// Rank k gets the sum of the blocks number k of all. S: n blocks, the input of a rank.
    ReduceScatter = "reduce-scatter",
    /// Rank k gets the blocks number k of all. S: n blocks, the input of a rank.
    AllToAll = "all-to-all",
    /// As all-to-all, with blocks whose sizes a matrix gives. S: the largest row of the matrix.
    AllToAllV = "all-to-all-v",
    /// All ranks get what the root has. S: that.
    Broadcast = "broadcast",
    /// The root gets the sum of what all have. S: the buffer of a rank.
    Reduce = "reduce",
    /// Rank k sends to k+1 and receives from k-1, in a circle. S: the message.
    SendReceive = "send-receive",
    /// The root gets the blocks of all. S: n blocks.
    Gather = "gather",
    /// Rank k gets block number k of the root. S: n blocks.
    Scatter = "scatter",
    /// No rank is done before all have begun. S: 0.
    Barrier = "barrier",
}

impl Kind {
    /// What the bus bandwidth is, divided by S / time: the same for all algorithms, as in nccl-tests.
    pub fn bus_factor(self, ranks: u32) -> f64 {
        let share =
            |times: f64| times * f64::from(ranks.saturating_sub(1)) / f64::from(ranks.max(1));
        match self {
            Self::AllReduce => share(2.0),
            Self::AllGather
            | Self::ReduceScatter
            | Self::AllToAll
            | Self::AllToAllV
            | Self::Gather
            | Self::Scatter => share(1.0),
            Self::Broadcast | Self::Reduce | Self::SendReceive | Self::Barrier => 1.0,
        }
    }

    /// Whether messages are added up.
    pub const fn reduces(self) -> bool {
        matches!(self, Self::AllReduce | Self::ReduceScatter | Self::Reduce)
    }
}

/// Bytes that each rank has for each other: row s, column d for those from s to d.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matrix {
    ranks: u32,
    bytes: Vec<u64>,
}

impl Matrix {
    /// That of `rows`.
    ///
    /// # Errors
    /// A row that has not as many columns as there are rows. More than 2^62 bytes in all, or in a row of entries as the
    /// largest one.
    pub fn new(rows: &[Vec<u64>]) -> Result<Self, Error> {
        let ranks = u32::try_from(rows.len()).unwrap_or(u32::MAX);
        for (number, row) in rows.iter().enumerate() {
            if row.len() != rows.len() {
                return Err(Error::new(
                    "matrix",
                    format!("row {number} of {} columns", row.len()),
                    format!("there are {} rows", rows.len()),
                    "write as many columns as rows",
                ));
            }
        }
        let bytes = rows.concat();
        let sum = bytes.iter().try_fold(0_u64, |sum, one| sum.checked_add(*one));
        // Slots on the way have room for the largest of all.
        let slots = bytes.iter().max().unwrap_or(&0).checked_mul(u64::from(ranks));
        let fits = |bytes: Option<u64>| bytes.is_some_and(|bytes| bytes <= MOST_BYTES);
        if !fits(sum) || !fits(slots) {
            let reason = "it is above 2^62 bytes";
            return Err(Error::new("matrix", "a sum", reason, "write fewer bytes"));
        }
        Ok(Self { ranks, bytes })
    }

    /// Rows, and columns.
    pub const fn ranks(&self) -> u32 {
        self.ranks
    }

    /// Bytes from `source` to `destination`; 0 outside.
    pub fn get(&self, source: u32, destination: u32) -> u64 {
        let at = source as usize * self.ranks as usize + destination as usize;
        self.bytes.get(at).copied().unwrap_or(0)
    }

    /// The largest entry.
    pub(crate) fn largest(&self) -> u64 {
        self.bytes.iter().copied().max().unwrap_or(0)
    }

    /// The largest sum of a row.
    fn largest_row(&self) -> u64 {
        self.bytes
            .chunks((self.ranks as usize).max(1))
            .map(|row| row.iter().sum())
            .max()
            .unwrap_or(0)
    }
}

/// The most bytes of a collective: those of all ranks together are a 64-bit number then.
const MOST_BYTES: u64 = 1 << 62;

/// The most ranks.
const MOST_RANKS: u32 = 1 << 20;

/// A collective operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collective {
    kind: Kind,
    ranks: u32,
    bytes: u64,
    element: u32,
    root: u32,
    matrix: Option<Arc<Matrix>>,
}

impl Collective {
    /// That of `kind` among `ranks` (1 to 2^20), with S = `bytes` as the kind says. Elements have one byte, and the root is
    /// rank 0.
    ///
    /// # Errors
    /// Numbers outside of their ranges; a barrier with bytes; an all-to-all-v, which needs a matrix.
    pub fn new(kind: Kind, ranks: u32, bytes: u64) -> Result<Self, Error> {
        if ranks == 0 || ranks > MOST_RANKS {
            let fix = format!("name 1 to {MOST_RANKS} ranks");
            return Err(Error::new("ranks", ranks, "a collective has not so many", fix));
        }
        if bytes > MOST_BYTES / u64::from(ranks) {
            let fix = format!("write at most {}", MOST_BYTES / u64::from(ranks));
            return Err(Error::new("bytes", bytes, "all ranks together have more than 2^62", fix));
        }
        if kind == Kind::Barrier && bytes > 0 {
            return Err(Error::new("bytes", bytes, "a barrier carries no data", "write 0"));
        }
        if kind == Kind::AllToAllV {
            let fix = "give the matrix of bytes, or use all-to-all";
            return Err(Error::new("kind", kind.name(), "its blocks have sizes of their own", fix));
        }
        Ok(Self { kind, ranks, bytes, element: 1, root: 0, matrix: None })
    }

    /// An all-to-all-v of `matrix`.
    ///
    /// # Errors
    /// A matrix without rows, or with too many.
    pub fn all_to_all_v(matrix: Matrix) -> Result<Self, Error> {
        let bytes = matrix.largest_row();
        let plain = Self::new(Kind::AllToAll, matrix.ranks, 0)?;
        Ok(Self { kind: Kind::AllToAllV, bytes, matrix: Some(Arc::new(matrix)), ..plain })
    }

    /// The same with elements of so many bytes (1 to 64), which are not cut.
    ///
    /// # Errors
    /// Bytes that are no whole elements.
    pub fn with_element(self, element: u32) -> Result<Self, Error> {
        if element == 0 || element > 64 {
            return Err(Error::new(
                "element",
                element,
                "no data type has it",
                "write 1 to 64 bytes",
            ));
        }
        let whole = |bytes: u64| bytes.is_multiple_of(u64::from(element));
        let rows_are_whole = self.matrix.iter().all(|one| one.bytes.iter().all(|one| whole(*one)));
        if !whole(self.bytes) || !rows_are_whole {
            let reason = format!("an element has {element} bytes");
            return Err(Error::new("bytes", self.bytes, reason, "write a multiple of it"));
        }
        Ok(Self { element, ..self })
    }

    /// The same with another root, for kinds that have one.
    ///
    /// # Errors
    /// A root that is no rank.
    pub fn with_root(self, root: u32) -> Result<Self, Error> {
        if root >= self.ranks {
            let fix = format!("write 0 to {}", self.ranks - 1);
            return Err(Error::new("root", root, format!("there are {} ranks", self.ranks), fix));
        }
        Ok(Self { root, ..self })
    }

    /// What is done.
    pub const fn kind(&self) -> Kind {
        self.kind
    }

    /// Among how many, n.
    pub const fn ranks(&self) -> u32 {
        self.ranks
    }

    /// S, as [`Kind`] says (bytes).
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// An element, which is not cut (bytes).
    pub const fn element(&self) -> u32 {
        self.element
    }

    /// The root of a broadcast, reduce, gather or scatter.
    pub const fn root(&self) -> u32 {
        self.root
    }

    /// The sizes of blocks of an all-to-all-v.
    pub const fn matrix(&self) -> Option<&Arc<Matrix>> {
        self.matrix.as_ref()
    }
}
