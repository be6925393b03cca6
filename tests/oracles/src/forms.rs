//! Random edge parts of every form with a specialised loop, and of other forms.
//!
//! One lane per block interprets them; the results of warps are compared with that.

use crate::random::Random;
use seawall::backend::Session;
use seawall::program::{
    Edge, Edges, Item, Join, Kind, Over, PlanRequest, ProgramBuilder, ProgramError, RegisterId,
    Value,
};

/// Waves of a program.
const WAVES: u32 = 10;

/// Registers that edges read, each with a value per node.
#[derive(Clone, Copy)]
struct Registers {
    words: RegisterId,
    pairs: RegisterId,
    floats: RegisterId,
    changed: RegisterId,
}

/// A program of random parts, and its results.
///
/// # Errors
/// Never; the builder's errors would be a bug.
pub fn program(
    nodes: u32,
    random: &mut Random,
) -> Result<(ProgramBuilder, Vec<RegisterId>), ProgramError> {
    let mut program = ProgramBuilder::new(nodes);
    let registers = Registers {
        words: program.per_node("words", Kind::U32)?,
        pairs: program.per_node("pairs", Kind::U64)?,
        floats: program.per_node("floats", Kind::F32)?,
        changed: program.per_node("changed", Kind::U32)?,
    };
    program.each("draw", Over::Nodes, |node| {
        let drawn = node.index().hash();
        node.store(registers.words, drawn >> 20);
        node.store(registers.pairs, (drawn >> 8).below_high(drawn & 3));
        node.store(registers.floats, (drawn >> 22).to_f32());
        node.store(registers.changed, drawn >> 16);
    });
    let mut results = vec![registers.changed];
    for wave in 0..WAVES {
        results.push(self::wave(&mut program, registers, wave, random)?);
    }
    for result in &results {
        program.keep(*result);
    }
    Ok((program, results))
}

/// Adds a wave, and returns its result.
fn wave(
    program: &mut ProgramBuilder,
    registers: Registers,
    number: u32,
    random: &mut Random,
) -> Result<RegisterId, ProgramError> {
    let kind = if random.once_in(3) {
        Kind::U64
    } else {
        Kind::U32
    };
    let to = program.per_node(format!("result {number}"), kind)?;
    program.fill("nothing", to, 0);
    if random.once_in(5) {
        program.each("change", Over::Nodes, |node| {
            change(node, registers, random)
        });
    }
    let edges = [Edges::Out, Edges::In][random.below(2) as usize];
    program.each("gather", Over::Nodes, |node| {
        if random.once_in(4) {
            node.only(node.load(registers.words) & 1);
        }
        let found = match kind {
            Kind::U64 => gather_pairs(node, registers, edges, random),
            _ => gather_words(node, registers, edges, random),
        };
        node.store(to, found);
    });
    Ok(to)
}

fn change(node: Item<'_>, registers: Registers, random: &mut Random) {
    let how = [Join::Min, Join::Max, Join::Sum, Join::Or][random.below(4) as usize];
    let own = node.load(registers.words);
    let is_own = random.once_in(2);
    node.each_edge(Edges::Out, |edge| {
        let value = if is_own { own } else { edge.constant(77_u32) };
        edge.scatter(registers.changed, edge.neighbour(), how, value);
    });
}

fn gather_words<'c>(
    node: Item<'c>,
    registers: Registers,
    edges: Edges,
    random: &mut Random,
) -> Value<'c> {
    let own = node.load(registers.words);
    if random.once_in(4) {
        let largest = node.gather(edges, Join::Max, |edge| {
            let value = word(edge, registers, random);
            edge.until(value.above(own));
            value
        });
        // The edges visited after that depend on the machine.
        return largest.above(own).select(u32::MAX, largest);
    }
    node.gather(edges, random_join(random), |edge| {
        if random.once_in(6) {
            return float(edge, registers, random);
        }
        let mut value = word(edge, registers, random);
        if random.once_in(3) {
            value = weighed(value, edge.weight(), random);
        }
        if random.once_in(3) {
            value = value - operand(edge, own, random);
        }
        match random.below(8) {
            0 => return edge.constant(1_u32) << (value & 31),
            1 => return edge.constant(1_u32) << value,
            2 | 3 => return compared(value, operand(edge, own, random), random),
            4 | 5 => edge.only(compared(value, operand(edge, own, random), random)),
            _ => {}
        }
        if random.once_in(3) {
            value = word(edge, registers, random);
        }
        value
    })
}

fn gather_pairs<'c>(
    node: Item<'c>,
    registers: Registers,
    edges: Edges,
    random: &mut Random,
) -> Value<'c> {
    let own = node.load(registers.pairs);
    let how = [Join::Min, Join::Max, Join::Sum, Join::Or, Join::And][random.below(5) as usize];
    node.gather(edges, how, |edge| {
        let mut value = pair(edge, registers, random);
        match random.below(6) {
            0 => {
                edge.only(value.equals(own));
                value = pair(edge, registers, random);
            }
            1 => edge.only(value.at_most(own)),
            2 => value = value - own,
            3 => {
                edge.only(edge.there(registers.words).differs(own.to_u32()));
                value = edge.neighbour().below_high(edge.weight());
            }
            4 => {
                let shift = edge.there(registers.words) - own.to_u32();
                value = edge.constant(1_u64) << shift;
            }
            _ => {}
        }
        value
    })
}

fn random_join(random: &mut Random) -> Join {
    Join::ALL[random.below(6) as usize]
}

fn operand<'c>(edge: Edge<'c>, own: Value<'c>, random: &mut Random) -> Value<'c> {
    if random.once_in(2) {
        own
    } else {
        edge.constant(random.below(4000))
    }
}

fn word<'c>(edge: Edge<'c>, registers: Registers, random: &mut Random) -> Value<'c> {
    match random.below(3) {
        0 => edge.latest(registers.words, edge.neighbour()),
        _ => edge.there(registers.words),
    }
}

fn pair<'c>(edge: Edge<'c>, registers: Registers, random: &mut Random) -> Value<'c> {
    match random.below(3) {
        0 => edge.latest(registers.pairs, edge.neighbour()),
        _ => edge.there(registers.pairs),
    }
}

/// A float of the edge as a word.
fn float<'c>(edge: Edge<'c>, registers: Registers, random: &mut Random) -> Value<'c> {
    let value = edge.there(registers.floats);
    let value = match random.below(3) {
        0 => value * edge.weight().to_f32(),
        1 => value - 3.0_f32,
        _ => value.min(100.0_f32),
    };
    value.bits()
}

fn weighed<'c>(value: Value<'c>, weight: Value<'c>, random: &mut Random) -> Value<'c> {
    match random.below(4) {
        0 => value.min(weight),
        1 => value.max(weight),
        2 => weight + value,
        _ => value + weight,
    }
}

fn compared<'c>(value: Value<'c>, with: Value<'c>, random: &mut Random) -> Value<'c> {
    match random.below(6) {
        0 => value.equals(with),
        1 => value.differs(with),
        2 => value.below(with),
        3 => value.at_most(with),
        4 => value.above(with),
        _ => with.at_most(value),
    }
}

/// The results of a program in a session.
///
/// # Errors
/// A failure of the session.
pub fn results(
    session: &mut dyn Session,
    program: &ProgramBuilder,
    results: &[RegisterId],
) -> Result<Vec<Vec<u32>>, String> {
    let encoded = program.encode(&PlanRequest::default());
    let (encoded, _) = encoded.map_err(|error| error.to_string())?;
    session.load(&encoded).map_err(|error| error.to_string())?;
    session.run(&[]).map_err(|error| error.to_string())?;
    let read = |result: &RegisterId| {
        let mut words = Vec::new();
        let done = session.read(*result, &mut words);
        done.map(|()| words).map_err(|error| error.to_string())
    };
    results.iter().map(read).collect()
}

/// A program of one wave whose code is longer than a block holds, and its result.
///
/// # Errors
/// Never; the builder's errors would be a bug.
pub fn long(nodes: u32, steps: u32) -> Result<(ProgramBuilder, Vec<RegisterId>), ProgramError> {
    let mut program = ProgramBuilder::new(nodes);
    let (words, to) = (
        program.per_node("words", Kind::U32)?,
        program.per_node("to", Kind::U32)?,
    );
    let total = program.values("total", Kind::U32, 1)?;
    program.fill("no total", total, 0);
    program.each("draw", Over::Nodes, |node| {
        node.store(words, node.index().hash());
    });
    program.each("much", Over::Nodes, |node| {
        let mut value = node.load(words);
        for step in 0..steps {
            value = (value ^ (step + 1)) * 3;
        }
        let found = node.gather(Edges::Out, Join::Max, |edge| {
            let mut theirs = edge.there(words);
            for step in 0..steps {
                theirs = (theirs ^ step) + value;
            }
            edge.only(theirs & 3);
            theirs
        });
        node.store(to, found + value);
        node.fold(total, Join::Sum, found);
    });
    program.keep(to);
    program.keep(total);
    Ok((program, vec![to, total]))
}
