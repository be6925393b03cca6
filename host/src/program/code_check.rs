//! Proof that the code of a program's tables can be run: each instruction is valid, uses existing
//! temporaries and registers, and is in an allowed place.

use super::encoded::EncodedProgram;
use super::table_error::{CodeFault, TableError};
use seawall_core::abi::code::{
    AT_HAND, EdgesPart, Form, Instruction, NEIGHBOUR, NOTHING, NUMBER, NUMBERED, OF_EDGE, Op, PAIR,
    Standing, TEMPORARY, TEMPS, WORD, needs,
};
use seawall_core::abi::program::{EachRecord, Opcode};

/// Checks the code and the waves that run it. Linear in both.
pub(super) fn check_code(program: &EncodedProgram) -> Result<(), TableError> {
    let is_cut = check_parts(program)?;
    let most = items_max(program);
    let each = program.waves.iter();
    for wave in each.filter(|wave| wave.opcode == Opcode::Each as u32) {
        let record = EachRecord::from_parameters(wave.parameters);
        if record.items > most {
            return Err(TableError::TooManyItems {
                wave: wave.wave,
                items: record.items,
                most,
            });
        }
        let end = u64::from(record.first) + u64::from(record.instructions);
        let held = program.code.len();
        // A wave runs whole parts: neither end may lie inside a part.
        let is_whole = |at: u64| is_cut.get(at as usize) == Some(&false);
        if end > held as u64 || !is_whole(record.first.into()) || !is_whole(end) {
            return Err(TableError::CodeRange {
                wave: wave.wave,
                first: record.first,
                count: record.instructions,
                held,
            });
        }
        let code = &program.code[record.first as usize..end as usize];
        if record.needs != needs::of(code) {
            return Err(TableError::CodeNeeds { wave: wave.wave });
        }
    }
    Ok(())
}

/// Most items of a wave of code: as many as the graph has nodes or a register has words, or a few
/// thousand. A wave is not interrupted, so an arbitrary number must not decide how long it runs.
fn items_max(program: &EncodedProgram) -> u32 {
    const ALWAYS: u32 = 1 << 16;
    let words = program.registers.iter().map(|register| register.words);
    words.max().unwrap_or(0).max(program.nodes).max(ALWAYS)
}

/// Checks every instruction; returns for each place, the end included, whether it is inside an edge
/// part.
fn check_parts(program: &EncodedProgram) -> Result<Vec<bool>, TableError> {
    let count = program.code.len();
    let mut is_cut = vec![false; count + 1];
    // First reduction and end of the open part.
    let mut open: Option<(usize, usize)> = None;
    for (index, at) in program.code.iter().enumerate() {
        open = open.filter(|(_, end)| index < *end);
        is_cut[index] = open.is_some();
        let refuse = |fault| TableError::Code {
            instruction: index,
            fault,
        };
        let standing = match open {
            None => Standing::Item,
            Some((reductions, _)) if index < reductions => Standing::Edge,
            Some(_) => Standing::EndOfEdge,
        };
        check_instruction(program, at, standing).map_err(refuse)?;
        if at.op == Op::Edges as u32 {
            open = Some(part_of(at, index, count).ok_or(refuse(CodeFault::Part))?);
        }
    }
    Ok(is_cut)
}

/// First reduction and end of the part that `at` begins, if it lies in the table.
fn part_of(at: &Instruction, index: usize, count: usize) -> Option<(usize, usize)> {
    let end = index.checked_add(1)?.checked_add(at.second as usize)?;
    let reductions = EdgesPart::from_word(at.first).reductions as usize;
    (end <= count && reductions <= at.second as usize).then(|| (end - reductions, end))
}

fn check_instruction(
    program: &EncodedProgram,
    at: &Instruction,
    here: Standing,
) -> Result<(), CodeFault> {
    let (Some(op), Some(form)) = (Op::from_word(at.op), at.form()) else {
        return Err(CodeFault::Unknown);
    };
    let fits = match form.standing {
        Standing::Any => here != Standing::EndOfEdge,
        needed => needed == here,
    };
    if !fits {
        return Err(CodeFault::Place);
    }
    check_operands(at, op, form, here)?;
    for (access, register) in op.accesses().into_iter().zip([at.first, at.second]) {
        if access.is_some() && register as usize >= program.registers.len() {
            return Err(CodeFault::Register);
        }
    }
    Ok(())
}

/// Checks that every operand is there and as wide as it has to be.
fn check_operands(at: &Instruction, op: Op, form: Form, here: Standing) -> Result<(), CodeFault> {
    let [to, a, b, c] = at.temps;
    let [words_a, words_b, words_c] = form.from;
    let is_operand = |byte, words| is_word(byte, op, words) || is_temporary(byte, words);
    let fits_to = match form.to {
        0 => to == NOTHING,
        words if op == Op::Reduce => is_temporary(to, words),
        words => to == NOTHING || to & !PAIR == AT_HAND || is_temporary(to, words),
    };
    let fits_b = match words_b {
        0 => b == NOTHING,
        words if matches!(op, Op::Reduce | Op::Fold) => is_temporary(b, words),
        words => is_operand(b, words),
    };
    let number = match here {
        Standing::Item => NUMBER,
        _ => NEIGHBOUR,
    };
    let fits_a = match a {
        // The accumulator may be narrower than used: its further bits are unspecified.
        NOTHING => op != Op::Take,
        _ if a == number => words_a == 1,
        // The immediate value would be a register.
        WORD if op == Op::Append => false,
        _ => words_a > 0 && is_operand(a, words_a),
    };
    let fits_c = words_c == 0 || is_temporary(c, words_c);
    let fits = fits_to && fits_a && fits_b && fits_c;
    fits.then_some(()).ok_or(CodeFault::Temporary)
}

/// Whether a byte names temporaries of this width.
fn is_temporary(byte: u8, words: u32) -> bool {
    let (numbered, is_pair) = (byte & !(OF_EDGE | PAIR), byte & PAIR != 0);
    let number = u32::from(numbered & NUMBERED);
    numbered & !NUMBERED == TEMPORARY
        && is_pair == (words == 2)
        && number + words <= u32::from(TEMPS)
}

/// Whether a byte stands for as many words of an instruction.
const fn is_word(byte: u8, op: Op, words: u32) -> bool {
    match words {
        1 => byte == WORD,
        _ => byte == WORD | PAIR && !op.uses_first(),
    }
}
