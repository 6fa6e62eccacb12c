//! How many instructions a call can take at the most, if that can be seen from the code.
//!
//! Code without loops, without recursion and without calls of what only shows in a run takes each of its instructions at most once.
//! If these are no more than a call may take, nothing needs to count them: the call ends, and the limit is never met.

use wasm_encoder::reencode::Error;
use wasmparser::{ExternalKind, FunctionBody, Operator, Parser, Payload};

/// Calls within calls that are followed: beyond, nothing is known.
const DEEPEST: usize = 64;

/// The most instructions that a call of an exported function can take, as Wasmtime counts them; none if code alone does not say.
/// The module is valid, and has no imports.
pub(crate) fn bound(module: &[u8], export: &str) -> Result<Option<u64>, Error> {
    let (mut functions, mut called) = (Vec::new(), None);
    for payload in Parser::new(0).parse_all(module) {
        match payload? {
            Payload::ExportSection(exports) => {
                for one in exports {
                    let one = one?;
                    if one.kind == ExternalKind::Func && one.name == export {
                        called = Some(one.index);
                    }
                }
            }
            Payload::CodeSectionEntry(body) => functions.push(Function::new(&body, module)?),
            _ => {}
        }
    }
    Ok(called.and_then(|called| Bounds(functions).of(called, 0)))
}

/// What is known of a function.
enum Function {
    /// It may take an instruction more than once.
    Endless,
    /// It takes so many instructions of its own at the most, and calls others.
    Straight { own: u64, calls: Vec<u32> },
    /// With all that it calls.
    Bounded(u64),
}

impl Function {
    fn new(body: &FunctionBody<'_>, module: &[u8]) -> Result<Self, Error> {
        // To enter a function counts as an instruction.
        let (mut own, mut calls) = (1, Vec::new());
        for operator in body.get_operators_reader()?.into_iter_with_offsets() {
            let (operator, offset) = operator?;
            own += 1;
            if let Operator::Call { function_index } = operator {
                calls.push(function_index);
            }
            let code = usize::try_from(offset).ok().and_then(|at| module.get(at));
            if !code.is_some_and(|&code| is_single(code, &operator)) {
                return Ok(Self::Endless);
            }
        }
        Ok(Self::Straight { own, calls })
    }
}

/// Whether an instruction counts as one, and only those behind it follow, or those of functions that it names. By the first byte
/// of its code: what a later version of WebAssembly adds is not among these.
const fn is_single(code: u8, operator: &Operator<'_>) -> bool {
    match code {
        // Not `loop` (3), nor exceptions.
        0x00..=0x02 | 0x04 | 0x05 | 0x0b..=0x10 => true,
        // `drop` and `select`; variables.
        0x1a..=0x1c | 0x20..=0x24 => true,
        // Loads and stores; not `memory.grow`; numbers.
        0x28..=0x3f | 0x41..=0xc4 => true,
        // Not what works on whole pieces of memory.
        0xfc => matches!(
            operator,
            Operator::I32TruncSatF32S
                | Operator::I32TruncSatF32U
                | Operator::I32TruncSatF64S
                | Operator::I32TruncSatF64U
                | Operator::I64TruncSatF32S
                | Operator::I64TruncSatF32U
                | Operator::I64TruncSatF64S
                | Operator::I64TruncSatF64U
        ),
        _ => false,
    }
}

/// The functions of a module.
struct Bounds(Vec<Function>);

impl Bounds {
    /// The most instructions of a function with all that it calls.
    fn of(&mut self, function: u32, depth: usize) -> Option<u64> {
        let place = usize::try_from(function).ok().filter(|_| depth < DEEPEST)?;
        // Whoever comes here again before it is known has found a recursion.
        match core::mem::replace(self.0.get_mut(place)?, Function::Endless) {
            Function::Endless => None,
            Function::Straight { own, calls } => {
                let mut most = own;
                for called in calls {
                    most = most.saturating_add(self.of(called, depth + 1)?);
                }
                self.0[place] = Function::Bounded(most);
                Some(most)
            }
            Function::Bounded(most) => {
                self.0[place] = Function::Bounded(most);
                Some(most)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn bounded(functions: &str, expected: Option<u64>) {
        let text = format!("(module (memory 1) (table 1 funcref) {functions})");
        let binary = wat::parse_str(text).unwrap();
        assert_eq!(bound(&binary, "f").unwrap(), expected, "{functions}");
    }

    #[test]
    fn straight_code_takes_each_instruction_once() {
        // The `end`, and to enter it.
        bounded("(func (export \"f\"))", Some(2));
        bounded("(func (export \"f\") i32.const 1 (if (then nop) (else unreachable)))", Some(8));
        bounded("(func (export \"f\") (drop (i64.trunc_sat_f64_u (f64.const 1))))", Some(5));
    }

    #[test]
    fn calls_take_what_is_called_each_time() {
        bounded("(func (export \"f\") call 1 call 1) (func call 2 nop) (func nop)", Some(18));
    }

    #[test]
    fn what_may_go_round_has_no_bound() {
        for body in ["(loop)", "call 0", "call 1", "call 2", "(call_indirect (i32.const 0))"] {
            let others = "(func call 0) (func (loop))";
            bounded(&format!("(func (export \"f\") {body}) {others}"), None);
        }
        for body in [
            "(drop (memory.grow (i32.const 0)))",
            "(memory.fill (i32.const 0) (i32.const 0) (i32.const 9))",
        ] {
            bounded(&format!("(func (export \"f\") {body})"), None);
        }
        bounded("(func (export \"g\"))", None);
    }

    #[test]
    fn what_grows_with_each_call_has_a_bound_all_the_same() {
        let calls =
            (1..60).map(|n| format!("(func call {n} call {n} call {n})")).collect::<String>();
        let functions = format!("{calls} (func)").replacen("(func ", "(func (export \"f\") ", 1);
        bounded(&functions, Some(u64::MAX));
    }
}
