//! A module, compiled and looked at.

use core::fmt;

use sha2::{Digest, Sha256};
use wasmtime::{ExternType, Module};

use crate::code::Code;
use crate::engine::MOST_PAGES;
use crate::event::GuestEvent;
use crate::fault::Cause;
use crate::instance::Instance;
use crate::metadata::{ABI, Metadata, MetadataError};

/// The most bytes of a module, or of its text.
pub const MOST_MODULE: usize = 1024 * 1024;

/// Why a module cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// It is larger than modules may be.
    #[error("the module has {0} bytes, of which at most {MOST_MODULE} are allowed")]
    Size(usize),
    /// It is no WebAssembly, or uses what is switched off.
    #[error("it is no WebAssembly module that can run here: {0}")]
    Invalid(String),
    /// It wants something from outside.
    #[error("the module imports {}: none are allowed", .0.join(", "))]
    Imports(Vec<String>),
    /// A function or the memory is missing.
    #[error("the module does not export `{0}`: it needs {1}")]
    Export(&'static str, &'static str),
    /// Its memory is larger than allowed.
    #[error(
        "the module declares {0} pages of memory, of which at most {MOST_PAGES} are allowed: give its linker a smaller stack"
    )]
    Memory(u64),
    /// It cannot be started or asked.
    #[error("the module does not start: {0}")]
    Start(Cause),
    /// It was written for another version.
    #[error("the module has ABI {0}, and this program has ABI {ABI}")]
    Abi(u32),
    /// The block lies where none can be.
    #[error(
        "rl_block() answers {address}: it needs a multiple of 8 with 784 bytes of memory behind it, and there are {memory}"
    )]
    Block {
        /// What it answered.
        address: u32,
        /// Bytes of its memory.
        memory: usize,
    },
    /// The metadata lie where none can be.
    #[error(
        "rl_meta() answers {len} bytes at {address}: it needs at most 64 KiB within the module's memory"
    )]
    MetadataPlace {
        /// Where.
        address: usize,
        /// How many.
        len: usize,
    },
    /// The metadata are wrong.
    #[error(transparent)]
    Metadata(#[from] MetadataError),
    /// It keeps something between two calls.
    #[error(
        "the module keeps something outside of its `state`: in call {call} of the check (`{event}`) an instance of its own \
         answers otherwise than one that was called before"
    )]
    HiddenState {
        /// Which call.
        call: usize,
        /// What it was about.
        event: &'static str,
    },
}

impl LoadError {
    /// What the writer of the module can do.
    pub const fn help(&self) -> &'static str {
        match self {
            Self::Size(_) => "strip its debugging information",
            Self::Invalid(_) => "name a module, .wasm or .wat, that a compiler made of the source",
            Self::Imports(_) => {
                "build it without a standard library's system interface; `rocelab cc new` shows how"
            }
            Self::Start(_) => "leave out start functions, or let them end",
            Self::Metadata(_) => "docs/user-congestion-control.md lists the keys",
            Self::HiddenState { .. } => {
                "keep everything in the block's `state`, and nothing in global variables; the metadata's `state` has to be all \
                 of its bytes, as the others are not kept"
            }
            Self::Export(..) | Self::Memory(_) | Self::Abi(_) | Self::Block { .. } => {
                "`rocelab cc new` shows a module that works"
            }
            Self::MetadataPlace { .. } => "answer address << 32 | length",
        }
    }
}

/// A module that can be called.
pub struct GuestModule {
    code: Code,
    metadata: Metadata,
    identity: String,
    label: String,
    wanted: Wanted,
}

/// Events that a module wants to be called for. Bit `n`: those of kind `n`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted(u8);

impl Wanted {
    /// Whether an event is among them.
    #[inline]
    pub(crate) const fn has(self, event: GuestEvent) -> bool {
        self.0 & 1 << event.kind() != 0
    }
}

impl fmt::Debug for GuestModule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { code: _, metadata, identity, label: _, wanted: _ } = self;
        f.debug_struct("GuestModule")
            .field("metadata", metadata)
            .field("identity", identity)
            .finish_non_exhaustive()
    }
}

impl GuestModule {
    /// Compiles a module, `.wasm` or the text of one, and reads its metadata. Whether it keeps what it must not is for
    /// [`check`](crate::check()) to find.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn new(bytes: &[u8]) -> Result<Self, LoadError> {
        if bytes.len() > MOST_MODULE {
            return Err(LoadError::Size(bytes.len()));
        }
        let code = Code::new(bytes).map_err(LoadError::Invalid)?;
        let compiled = code.counted();
        let imports: Vec<_> =
            compiled.imports().map(|one| format!("{}.{}", one.module(), one.name())).collect();
        if !imports.is_empty() {
            return Err(LoadError::Imports(imports));
        }
        if let Some(ExternType::Memory(memory)) = compiled.get_export("memory")
            && memory.minimum() > MOST_PAGES as u64
        {
            return Err(LoadError::Memory(memory.minimum()));
        }
        let (abi, metadata) = Instance::new(compiled)?.metadata(compiled)?;
        if abi != ABI {
            return Err(LoadError::Abi(abi));
        }
        let metadata = Metadata::parse(&metadata)?;
        let hash = Sha256::digest(bytes);
        let identity = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        let label = format!("wasm:{}", metadata.name);
        let wanted = Wanted(metadata.events.iter().fold(0, |all, event| all | 1 << event.kind()));
        Ok(Self { code, metadata, identity, label, wanted })
    }

    /// What is run.
    pub(crate) const fn code(&self) -> &Code {
        &self.code
    }

    pub(crate) const fn compiled(&self) -> &Module {
        self.code.counted()
    }

    /// What it says of itself.
    pub const fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// What it wants to be called for.
    pub(crate) const fn wanted(&self) -> Wanted {
        self.wanted
    }

    /// The name that results have.
    pub(crate) fn label(&self) -> &str {
        &self.label
    }

    /// Its SHA-256, as text.
    pub fn identity(&self) -> &str {
        &self.identity
    }
}
