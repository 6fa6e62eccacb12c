//! The same bits of NaN on every machine, where bits can be seen.
//!
//! WebAssembly leaves sign and payload of a NaN open that arithmetic makes, and processors differ. Cranelift can give each result
//! of arithmetic the same bits, at the price of three instructions that every further calculation waits for: 30 of the
//! 150 ns that a call of Swift took. What a NaN has of sign and payload is seen in few places alone: where it is stored, taken for an integer, or lends
//! its sign. So a module is rewritten: there, and only there, each NaN becomes the canonical one.
//!
//! Vectors have more such places: a module with vectors is left as it is, for Cranelift.

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
        let (mut locals, mut count) = (Vec::new(), self.parameters.next().unwrap_or_default());
        for group in body.get_locals_reader()? {
            let (more, kind) = group?;
            count = count.saturating_add(more);
            locals.push((more, self.val_type(kind)?));
        }
        // Behind the function's own ones: the value that may be a NaN.
        locals.extend([(1, ValType::F32), (1, ValType::F64)]);
        let mut function = Function::new(locals);
        let mut operators = body.get_operators_reader()?;
        while !operators.eof() {
            let operator = operators.read()?;
            match seen(&operator) {
                Some(Width::Single) => {
                    let nan = Instruction::F32Const(Ieee32::new(CANONICAL.0));
                    clear(&mut function, count, nan, Instruction::F32Ne);
                }
                Some(Width::Double) => {
                    let nan = Instruction::F64Const(Ieee64::new(CANONICAL.1));
                    clear(&mut function, count.saturating_add(1), nan, Instruction::F64Ne);
                }
                None => {}
            }
            function.instruction(&self.instruction(operator)?);
        }
        code.function(&function);
        Ok(())
    }
}

enum Width {
    Single,
    Double,
}

/// Whether an instruction shows the bits of the floating-point number on top of the stack.
const fn seen(operator: &Operator<'_>) -> Option<Width> {
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

/// Makes a NaN on top of the stack the canonical one: what differs from itself is a NaN.
fn clear(function: &mut Function, local: u32, nan: Instruction<'_>, differs: Instruction<'_>) {
    let value = || Instruction::LocalGet(local);
    let selected = [nan, value(), value(), value(), differs, Instruction::Select];
    function.instruction(&Instruction::LocalSet(local));
    for instruction in selected {
        function.instruction(&instruction);
    }
}
