//! Waves of other crates in a program.

use super::builder::ProgramBuilder;
use super::encoded::RegisterId;
use super::error::{OwnError, ProgramError};
use super::wave::{Does, WaveSpec};
use crate::graph::WeightKind;
use crate::own::OwnWaves;
use seawall_core::abi::facts::{Array, Facts, Operand};
use seawall_core::abi::own::Declaration;
use seawall_device::own::Wave;

/// Operands and parameters of a wave of another crate.
///
/// ```
/// use seawall::program::{Call, ProgramBuilder};
/// # let mut program = ProgramBuilder::new(4);
/// let [heat, next] = [program.words("heat", 4)?, program.words("next", 4)?];
/// let call = Call::to(next).first(heat).with([3]);
/// # let _ = call;
/// # Ok::<(), seawall::program::ProgramError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Call {
    /// Registers, in the order of [`Operand::ALL`].
    registers: [Option<RegisterId>; 4],
    parameters: [u32; 5],
}

impl Call {
    /// A call with this destination.
    #[must_use]
    pub fn to(register: RegisterId) -> Self {
        Self::default().operand(Operand::To, register)
    }

    /// The same call with this first source.
    #[must_use]
    pub fn first(self, register: RegisterId) -> Self {
        self.operand(Operand::First, register)
    }

    /// The same call with this second source.
    #[must_use]
    pub fn second(self, register: RegisterId) -> Self {
        self.operand(Operand::Second, register)
    }

    /// The same call with this third source.
    #[must_use]
    pub fn third(self, register: RegisterId) -> Self {
        self.operand(Operand::Third, register)
    }

    /// The same call with these parameters, of up to five; others are 0.
    #[must_use]
    pub fn with<const N: usize>(mut self, parameters: [u32; N]) -> Self {
        const { assert!(N <= 5, "a wave has five parameters") };
        self.parameters[..N].copy_from_slice(&parameters);
        self
    }

    pub(super) fn operand(mut self, operand: Operand, register: RegisterId) -> Self {
        self.registers[operand as usize] = Some(register);
        self
    }

    /// Refuses operands that the facts leave out, and missing ones.
    fn check(&self, facts: &Facts) -> Result<(), OwnError> {
        for operand in Operand::ALL {
            let is_declared = facts.reads.contains(&operand) || facts.writes.contains(&operand);
            match (is_declared, self.registers[operand as usize]) {
                (true, None) => return Err(OwnError::Missing { operand }),
                (false, Some(_)) => return Err(OwnError::Unused { operand }),
                _ => {}
            }
        }
        Ok(())
    }

    /// The wave `name` with the facts of `declaration`, which has this number in its set.
    fn wave(&self, name: &str, number: u32, declaration: &Declaration) -> WaveSpec {
        let facts = declaration.facts();
        let mut wave = WaveSpec::new(name, Does::Own { number, facts });
        wave.parameters = self.parameters;
        let registers = Operand::ALL.into_iter().zip(self.registers);
        for (operand, register) in registers {
            if let Some(register) = register {
                wave = match operand {
                    Operand::To => wave.placed(None, register),
                    _ => wave.placed(Some(operand as usize - 1), register),
                };
            }
        }
        wave
    }
}

impl ProgramBuilder {
    /// Lets the program use the waves of a set; a program has at most one set.
    ///
    /// A second set is refused when the program is encoded ([`OwnError::TwoSets`]).
    pub fn use_waves(&mut self, waves: &OwnWaves) {
        match &self.own {
            Some(known) if known.list() != waves.list() => {
                let wave = "use_waves".to_owned();
                let problem = OwnError::TwoSets;
                self.refuse(ProgramError::Own { wave, problem });
            }
            _ => self.own = Some(waves.clone()),
        }
    }

    /// Runs wave `W` of the set in use. Its facts say which operands it has, and whether it
    /// reads incoming edges or weights.
    pub fn own<W: Wave>(&mut self, name: &str, call: Call) {
        let problem = match self.own_wave::<W>(name, call) {
            Ok(wave) => return self.push(wave),
            Err(problem) => problem,
        };
        let wave = name.to_owned();
        self.refuse(ProgramError::Own { wave, problem });
    }

    /// Runs a wave of the set in use by its number and declaration.
    pub(super) fn own_declared(
        &mut self,
        name: &str,
        declared: (u32, &'static Declaration),
        call: Call,
    ) {
        match self.declared_wave(name, declared.0, declared.1, call) {
            Ok(wave) => self.push(wave),
            Err(problem) => {
                let wave = name.to_owned();
                self.refuse(ProgramError::Own { wave, problem });
            }
        }
    }

    fn own_wave<W: Wave>(&mut self, name: &str, call: Call) -> Result<WaveSpec, OwnError> {
        let wanted = Declaration::new(W::NAME, W::FACTS);
        let list = self.own.as_ref().map_or(&[][..], OwnWaves::list);
        let found = (0..).zip(list).find(|(_, declared)| **declared == wanted);
        let declared = found.ok_or(OwnError::NoSuchWave { name: W::NAME })?;
        self.declared_wave(name, declared.0, declared.1, call)
    }

    fn declared_wave(
        &mut self,
        name: &str,
        number: u32,
        declaration: &Declaration,
        call: Call,
    ) -> Result<WaveSpec, OwnError> {
        let facts = declaration.facts();
        call.check(&facts)?;
        for array in facts.arrays {
            self.need_array(*array)?;
        }
        Ok(call.wave(name, number, declaration))
    }

    fn need_array(&mut self, array: Array) -> Result<(), OwnError> {
        let kind = match array {
            Array::Incoming => {
                self.need_incoming();
                return Ok(());
            }
            Array::Weights | Array::IncomingWeights => WeightKind::Integer,
            Array::FloatWeights | Array::IncomingFloatWeights => WeightKind::Float,
        };
        if matches!(array, Array::IncomingWeights | Array::IncomingFloatWeights) {
            self.need_incoming();
            self.needs.incoming_weights = true;
        }
        match self.needs.weights.replace(kind) {
            Some(known) if known != kind => Err(OwnError::TwoWeights),
            _ => Ok(()),
        }
    }
}
