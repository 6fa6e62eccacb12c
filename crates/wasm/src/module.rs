//! A module, compiled and looked at.

use core::fmt;

use sha2::{Digest, Sha256};
use wasmtime::{ExternType, Module};

use crate::engine::{MOST_PAGES, engine};
use crate::event::GuestEvent;
use crate::fault::Cause;
use crate::instance::Instance;
use crate::metadata::{ABI, Metadata, MetadataError};
use crate::nan::canonical;

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
    compiled: Module,
    metadata: Metadata,
    identity: String,
    label: String,
    /// Bit `n`: it wants to be called for events of kind `n`.
    wanted: u8,
}

impl fmt::Debug for GuestModule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { compiled: _, metadata, identity, label: _, wanted: _ } = self;
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
        let compiled = compiled(bytes).map_err(LoadError::Invalid)?;
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
        let (abi, metadata) = Instance::new(&compiled)?.metadata(&compiled)?;
        if abi != ABI {
            return Err(LoadError::Abi(abi));
        }
        let metadata = Metadata::parse(&metadata)?;
        let hash = Sha256::digest(bytes);
        let identity = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        let label = format!("wasm:{}", metadata.name);
        let wanted = metadata.events.iter().fold(0, |all, event| all | 1 << event.kind());
        Ok(Self { compiled, metadata, identity, label, wanted })
    }

    pub(crate) const fn compiled(&self) -> &Module {
        &self.compiled
    }

    /// What it says of itself.
    pub const fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// Whether it wants to be called for an event.
    #[inline]
    pub(crate) const fn wants(&self, event: GuestEvent) -> bool {
        self.wanted & 1 << event.kind() != 0
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

/// The module, which shows the same NaN on every machine.
///
/// # Errors
/// What is wrong with it, in a line.
fn compiled(bytes: &[u8]) -> Result<Module, String> {
    let told = |error: wasmtime::Error| told(&error);
    let binary = wat::parse_bytes(bytes).map_err(|error| told(error.into()))?;
    let vectors = engine(true).map_err(told)?;
    // Only of a valid module is anything known.
    Module::validate(&vectors, &binary).map_err(told)?;
    match canonical(&binary).map_err(|error| told(wasmtime::Error::msg(error.to_string())))? {
        Some(binary) => Module::from_binary(&engine(false).map_err(told)?, &binary),
        None => Module::from_binary(&vectors, &binary),
    }
    .map_err(told)
}

/// An error in one line of at most 300 characters: a module may bring names of any length.
fn told(error: &wasmtime::Error) -> String {
    const SHOWN: usize = 300;
    let text = error.chain().map(|cause| cause.to_string()).collect::<Vec<_>>().join(": ");
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line,
    }
}
