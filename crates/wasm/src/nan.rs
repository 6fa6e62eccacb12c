//! The same bits of NaN on every machine, where bits can be seen.
//!
//! WebAssembly leaves sign and payload of a NaN open that arithmetic makes, and processors differ. Cranelift can give each result
//! of arithmetic the same bits, at the price of three instructions that every further calculation waits for. What a NaN has of sign
//! and payload is seen in few places alone: where it is stored, taken for an integer, or lends its sign. So a module is rewritten:
//! what arrives there has no other NaN than the canonical one, or those that memory and constants bring, whose bits are given.
//!
//! Most of what a guest stores it has loaded, and not changed. So what is stored from a local variable is cleared where the variable
//! gets it, unless that is a value of memory: such a variable is *settled*, and never has another NaN. In a function with loops a
//! variable may get a value more often than it is stored: there, values are cleared where they are seen.
//!
//! Vectors have more such places: a module with vectors is left as it is, for Cranelift.

use std::collections::BTreeMap;

use wasm_encoder::reencode::{Error, Reencode};
use wasm_encoder::{CodeSection, Function, Ieee32, Ieee64, Instruction, ValType};
use wasmparser::{CompositeInnerType, FunctionBody, Operator, Parser, Payload};

/// The bits of a NaN that is stored: those of Cranelift and of the Arm processors.
const CANONICAL: (u32, u64) = (0x7fc0_0000, 0x7ff8_0000_0000_0000);

/// The module with canonical NaNs; none if it has vectors. It must be a valid module.
pub(crate) fn canonical(module: &[u8]) -> Result<Option<Vec<u8>>, Error> {
    let Some(parameters) = parameters(module)? else { return Ok(None) };
    let mut canonical = wasm_encoder::Module::new();
    Rewriter { parameters: parameters.into_iter() }.parse_core_module(
        &mut canonical,
        Parser::new(0),
        module,
    )?;
    Ok(Some(canonical.finish()))
}

/// How many parameters each function has; none if there are vectors.
fn parameters(module: &[u8]) -> Result<Option<Vec<u32>>, Error> {
    let (mut types, mut parameters) = (Vec::new(), Vec::new());
    for payload in Parser::new(0).parse_all(module) {
        match payload? {
            Payload::TypeSection(groups) => {
                for group in groups {
                    types.extend(group?.into_types().map(|one| match one.composite_type.inner {
                        CompositeInnerType::Func(function) => function.params().len(),
                        _ => 0,
                    }));
                }
            }
            Payload::FunctionSection(functions) => {
                for function in functions {
                    let count = types.get(function? as usize).copied().unwrap_or_default();
                    parameters.push(u32::try_from(count).unwrap_or(u32::MAX));
                }
            }
            Payload::CodeSectionEntry(body) if has_vectors(&body, module)? => return Ok(None),
            _ => {}
        }
    }
    Ok(Some(parameters))
}

/// The first byte of every instruction about vectors.
const VECTORS: u8 = 0xfd;

/// Whether one of its instructions takes vectors.
fn has_vectors(body: &FunctionBody<'_>, module: &[u8]) -> Result<bool, Error> {
    for operator in body.get_operators_reader()?.into_iter_with_offsets() {
        let (_, offset) = operator?;
        if module.get(offset) == Some(&VECTORS) {
            return Ok(true);
        }
    }
    Ok(false)
}

struct Rewriter {
    parameters: std::vec::IntoIter<u32>,
}

impl Reencode for Rewriter {
    type Error = core::convert::Infallible;

    fn parse_function_body(
        &mut self,
        code: &mut CodeSection,
        body: FunctionBody<'_>,
    ) -> Result<(), Error> {
        let parameters = self.parameters.next().unwrap_or_default();
        let (mut locals, mut count) = (Vec::new(), parameters);
        for group in body.get_locals_reader()? {
            let (more, kind) = group?;
            count = count.saturating_add(more);
            locals.push((more, self.val_type(kind)?));
        }
        let settled = settled(&body)?;
        // Behind the function's own ones: the value that may be a NaN.
        locals.extend([(1, ValType::F32), (1, ValType::F64)]);
        let mut function = Function::new(locals);
        for (&local, &width) in settled.range(..parameters) {
            function.instruction(&Instruction::LocalGet(local));
            width.clear(&mut function, count);
            function.instruction(&Instruction::LocalSet(local));
        }
        let mut operators = body.get_operators_reader()?;
        let mut is_clean = false;
        while !operators.eof() {
            let operator = operators.read()?;
            if let Some(width) = seen(&operator, &settled)
                && !is_clean
            {
                width.clear(&mut function, count);
            }
            is_clean = leaves_clean(&operator, &settled);
            function.instruction(&self.instruction(operator)?);
        }
        code.function(&function);
        Ok(())
    }
}

/// Local variables that are settled, by their numbers.
type Settled = BTreeMap<u32, Width>;

/// The variables of a function whose values are shown as they are, if it has no loop.
fn settled(body: &FunctionBody<'_>) -> Result<Settled, Error> {
    let (mut settled, mut last) = (Settled::new(), None);
    for operator in body.get_operators_reader()? {
        let operator = operator?;
        if matches!(operator, Operator::Loop { .. }) {
            return Ok(Settled::new());
        }
        if let (Some(local), Some(width)) = (last, shown(&operator)) {
            settled.insert(local, width);
        }
        last = match operator {
            Operator::LocalGet { local_index } => Some(local_index),
            _ => None,
        };
    }
    Ok(settled)
}

#[derive(Clone, Copy)]
enum Width {
    Single,
    Double,
}

/// Whether what is on top of the stack must have no other NaN before an instruction.
fn seen(operator: &Operator<'_>, settled: &Settled) -> Option<Width> {
    match operator {
        Operator::LocalSet { local_index } | Operator::LocalTee { local_index } => {
            settled.get(local_index).copied()
        }
        _ => shown(operator),
    }
}

/// Whether an instruction shows the bits of the floating-point number on top of the stack.
const fn shown(operator: &Operator<'_>) -> Option<Width> {
    match operator {
        Operator::F32Store { .. } | Operator::I32ReinterpretF32 | Operator::F32Copysign => {
            Some(Width::Single)
        }
        Operator::F64Store { .. } | Operator::I64ReinterpretF64 | Operator::F64Copysign => {
            Some(Width::Double)
        }
        _ => None,
    }
}

/// Whether an instruction leaves a number on top of the stack whose bits are given.
fn leaves_clean(operator: &Operator<'_>, settled: &Settled) -> bool {
    match operator {
        Operator::LocalGet { local_index } | Operator::LocalTee { local_index } => {
            settled.contains_key(local_index)
        }
        _ => matches!(
            operator,
            Operator::F32Load { .. }
                | Operator::F64Load { .. }
                | Operator::F32Const { .. }
                | Operator::F64Const { .. }
                | Operator::F32ReinterpretI32
                | Operator::F64ReinterpretI64
        ),
    }
}

impl Width {
    /// Makes a NaN on top of the stack the canonical one: what differs from itself is a NaN. Behind the `count` variables of the
    /// function are the two that this needs.
    fn clear(self, function: &mut Function, count: u32) {
        let (local, nan, differs) = match self {
            Self::Single => {
                (count, Instruction::F32Const(Ieee32::new(CANONICAL.0)), Instruction::F32Ne)
            }
            Self::Double => {
                let nan = Instruction::F64Const(Ieee64::new(CANONICAL.1));
                (count.saturating_add(1), nan, Instruction::F64Ne)
            }
        };
        let value = || Instruction::LocalGet(local);
        let selected = [nan, value(), value(), value(), differs, Instruction::Select];
        function.instruction(&Instruction::LocalSet(local));
        for instruction in selected {
            function.instruction(&instruction);
        }
    }
}
