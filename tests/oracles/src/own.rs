//! Waves of a separate crate that are equivalent to built-in ones: their twins.
//!
//! A script with twins runs both kinds in one program, and the interpreter makes no difference.

use seawall::program::BitOp;
use seawall_device::own::{Array, Facts, Fault, Machine, Operand, Reduction, Running, Wave};

/// The twins, by number.
pub type Twins = (CopyTwin, CombineTwin, ReduceTwin, MeetTwin);

/// The twin of `Copy`.
#[derive(Debug)]
pub struct CopyTwin;

impl Wave for CopyTwin {
    const NAME: &'static str = "CopyTwin";
    const FACTS: Facts = Facts::of(&[Operand::First], &[Operand::To]).word_wise();

    fn run<M: Machine>(wave: &mut Running<'_, M>) -> Result<(), Fault> {
        let (from, to) = (wave.read(Operand::First)?, wave.write(Operand::To)?);
        wave.each(to.len(), |item| {
            item.store(to, item.index(), item.load(from, item.index()));
        });
        Ok(())
    }
}

/// The twin of the bit operations; its parameter is that of [`truth_of`].
#[derive(Debug)]
pub struct CombineTwin;

/// The bits that an operation returns for bits 00, 01, 10 and 11 of its two sources, the first
/// one high, from the lowest on.
#[must_use]
pub fn truth_of(how: BitOp) -> u32 {
    match how {
        BitOp::And => 0b1000,
        BitOp::Or => 0b1110,
        BitOp::AndNot => 0b0100,
        BitOp::Xor => 0b0110,
    }
}

impl Wave for CombineTwin {
    const NAME: &'static str = "CombineTwin";
    const FACTS: Facts = Facts::of(&[Operand::First, Operand::Second], &[Operand::To]).word_wise();

    fn run<M: Machine>(wave: &mut Running<'_, M>) -> Result<(), Fault> {
        let (left, right) = (wave.read(Operand::First)?, wave.read(Operand::Second)?);
        let to = wave.write(Operand::To)?;
        let [truth, ..] = wave.parameters();
        if truth > 0b1111 {
            return Err(Fault::BadParameter);
        }
        wave.each(to.len(), |item| {
            let [a, b] = [left, right].map(|from| item.load(from, item.index()));
            let cases = [!a & !b, !a & b, a & !b, a & b];
            let kept = (0..4).filter(|case| truth >> case & 1 != 0);
            let word = kept.fold(0, |word, case| word | cases[case]);
            item.store(to, item.index(), word);
        });
        Ok(())
    }
}

/// The twin of `Reduce`.
#[derive(Debug)]
pub struct ReduceTwin;

impl Wave for ReduceTwin {
    const NAME: &'static str = "ReduceTwin";
    const FACTS: Facts =
        Facts::of(&[Operand::To, Operand::First], &[Operand::To]).per_word_of(Operand::First);

    fn run<M: Machine>(wave: &mut Running<'_, M>) -> Result<(), Fault> {
        let (from, to) = (wave.read(Operand::First)?, wave.update(Operand::To)?);
        let [how, ..] = wave.parameters();
        let how = Reduction::from_word(how).ok_or(Fault::BadParameter)?;
        wave.fold(to, how, from.len(), |item| item.load(from, item.index()));
        Ok(())
    }
}

/// The twin of `Meet`.
#[derive(Debug)]
pub struct MeetTwin;

impl Wave for MeetTwin {
    const NAME: &'static str = "MeetTwin";
    const FACTS: Facts =
        Facts::of(&[Operand::To, Operand::First], &[Operand::To]).reading(&[Array::Incoming]);

    fn run<M: Machine>(wave: &mut Running<'_, M>) -> Result<(), Fault> {
        let (from, to) = (wave.read(Operand::First)?, wave.update(Operand::To)?);
        let [intersect, facts, ..] = wave.parameters();
        let (rows, facts) = (wave.incoming()?, facts.max(1));
        wave.each(wave.nodes().saturating_mul(facts), |item| {
            let (node, fact) = (item.index() / facts, item.index() % facts);
            let edges = item.edges(rows, node);
            if edges.is_empty() {
                return;
            }
            let mut met = if intersect != 0 { u32::MAX } else { 0 };
            for edge in edges {
                let other = item.load(from, item.neighbour(rows, edge) * facts + fact);
                met = if intersect != 0 {
                    met & other
                } else {
                    met | other
                };
            }
            if item.load(to, item.index()) != met {
                item.store(to, item.index(), met);
                item.changed();
            }
        });
        Ok(())
    }
}
