//! Waves that find connected components.

use super::builder::ProgramBuilder;
use super::encoded::RegisterId;
use super::vocabulary::ComponentStep;
use super::wave::WaveSpec;
use seawall_core::abi::program::Opcode;

// Waves of the ready analyses: public for benchmarks and tests.
#[doc(hidden)]
impl ProgramBuilder {
    /// Runs one step of the components program on `parents`.
    pub fn components(&mut self, name: &str, step: ComponentStep, parents: RegisterId) {
        self.push(of_step(name, step, parents));
    }

    /// As [`ProgramBuilder::components`], but nothing happens if
    /// [`ComponentStep::HookReached`] has found that the largest component is `known`.
    pub fn components_unless(
        &mut self,
        name: &str,
        step: ComponentStep,
        parents: RegisterId,
        known: RegisterId,
    ) {
        let wave = match step {
            // The label stays if nothing happens.
            ComponentStep::Majority { to } => WaveSpec::new(name, Opcode::Majority)
                .updating(to)
                .reading(0, parents),
            _ => of_step(name, step, parents),
        };
        self.push(wave.reading(2, known));
    }
}

fn of_step(name: &str, step: ComponentStep, parents: RegisterId) -> WaveSpec {
    match step {
        ComponentStep::Link => WaveSpec::new(name, Opcode::Link).updating(parents),
        ComponentStep::Compress => WaveSpec::new(name, Opcode::Compress).updating(parents),
        ComponentStep::LinkSample { skip, edges } => WaveSpec::new(name, Opcode::LinkSample)
            .updating(parents)
            .with(0, edges)
            .with(1, skip),
        ComponentStep::Majority { to } => WaveSpec::new(name, Opcode::Majority)
            .writing(to)
            .reading(0, parents),
        ComponentStep::HookReached { frontier, known } => WaveSpec::new(name, Opcode::HookReached)
            .writing(parents)
            .reading(0, frontier)
            .writing_source(1, known),
        ComponentStep::LinkRest { skip, except } => WaveSpec::new(name, Opcode::LinkRest)
            .updating(parents)
            .reading(0, except)
            .with(0, skip),
    }
}
