//! A module's code, compiled.

use std::sync::OnceLock;

use wasmtime::Module;

use crate::bound::bound;
use crate::engine::{Does, engine};
use crate::nan::canonical;

/// The code of a module, which shows the same NaN on every machine.
pub(crate) struct Code {
    counted: Module,
    straight: Option<Straight>,
}

/// Code whose calls take so many instructions at the most.
struct Straight {
    most: u64,
    binary: Vec<u8>,
    uncounted: OnceLock<Option<Module>>,
}

impl Code {
    /// Compiles a module, `.wasm` or the text of one.
    ///
    /// # Errors
    /// What is wrong with it, in a line.
    pub(crate) fn new(bytes: &[u8]) -> Result<Self, String> {
        let told = |error: wasmtime::Error| told(&error);
        let binary = wat::parse_bytes(bytes).map_err(|error| told(error.into()))?;
        let vectors = engine(Does { counts: true, clears_nan: true }).map_err(told)?;
        // Only of a valid module is anything known.
        Module::validate(&vectors, &binary).map_err(told)?;
        let failed =
            |error: wasm_encoder::reencode::Error| told(wasmtime::Error::msg(error.to_string()));
        let Some(binary) = canonical(&binary).map_err(failed)? else {
            let counted = Module::from_binary(&vectors, &binary).map_err(told)?;
            return Ok(Self { counted, straight: None });
        };
        let scalars = engine(Does { counts: true, clears_nan: false }).map_err(told)?;
        let counted = Module::from_binary(&scalars, &binary).map_err(told)?;
        let imports = counted.imports().len();
        let most = if imports == 0 { bound(&binary, "rl_event").map_err(failed)? } else { None };
        let straight = most.map(|most| Straight { most, binary, uncounted: OnceLock::new() });
        Ok(Self { counted, straight })
    }

    /// The code that counts instructions.
    pub(crate) const fn counted(&self) -> &Module {
        &self.counted
    }

    /// Whether a call may take more instructions than this.
    pub(crate) fn may_exceed(&self, fuel: u64) -> bool {
        self.straight.as_ref().is_none_or(|straight| straight.most > fuel)
    }

    /// Code that does the same, and does not count, if calls cannot take more instructions than is known.
    pub(crate) fn uncounted(&self) -> Option<&Module> {
        let Straight { most: _, binary, uncounted } = self.straight.as_ref()?;
        // What counts has been compiled, so this can be. If not, that one is as good.
        let compile = || {
            let engine = engine(Does { counts: false, clears_nan: false }).ok()?;
            Module::from_binary(&engine, binary).ok()
        };
        uncounted.get_or_init(compile).as_ref()
    }
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
