//! A program on a resident graph, whose inputs are set by register.

use super::fit::Ids;
use super::{BackendError, Canceller, DeviceInfo, RunStats, Session, SessionMemory, SessionWork};
use crate::executor::{Executor, Machine};
use crate::graph::Graph;
use crate::multi::DevicesReport;
use crate::program::{EncodedProgram, RegisterId};
use std::ops::Range;

/// A graph on a machine, and a program that runs on it any number of times.
///
/// It keeps the input region of the loaded program, so that a caller sets registers and need not
/// know their places in the region. Inputs are kept from one run to the next.
///
/// ```
/// use seawall::backend::ProgramSession;
/// use seawall::executor::Machine;
/// use seawall::graph::Graph;
/// use seawall::program::{BitOp, PlanRequest, ProgramBuilder};
///
/// let graph = Graph::from_edges(3, &[], false)?;
/// let mut program = ProgramBuilder::new(3);
/// let [left, right] = [program.input("left", 3)?, program.input("right", 3)?];
/// let both = program.words("both", 3)?;
/// program.combine("join", BitOp::And, both, [left, right]);
/// program.keep(both);
/// let (encoded, _) = program.encode(&PlanRequest::default())?;
///
/// let mut session = ProgramSession::open(&graph, &Machine::cpu(None))?;
/// session.load(&encoded)?;
/// session.set_input(left, &[1, 2, 3])?;
/// let mut words = Vec::new();
/// for mask in [1, 2] {
///     session.set_input(right, &[mask; 3])?;
///     session.run()?;
///     session.read(both, &mut words)?;
///     assert_eq!(words, [1 & mask, 2 & mask, 3 & mask]);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ProgramSession<'g> {
    session: Box<dyn Session + 'g>,
    canceller: Canceller,
    inputs: Inputs,
}

#[derive(Default)]
struct Inputs {
    ids: Option<Ids>,
    words: Vec<u32>,
    /// Name of each register, by number.
    names: Vec<String>,
    /// Place of each input register in the words, and whether it was set; `None` for other
    /// registers. By number.
    places: Vec<Option<(Range<usize>, bool)>>,
}

impl<'g> ProgramSession<'g> {
    /// Opens `machine` with `graph` resident; the CPU if it names no executor.
    ///
    /// # Errors
    /// As for [`super::open`].
    pub fn open(graph: &'g Graph, machine: &Machine) -> Result<Self, BackendError> {
        let executor = machine.executor.unwrap_or(Executor::Cpu);
        Ok(Self::over(super::open(
            graph,
            executor,
            (machine, super::Settings::default()),
        )?))
    }

    /// Wraps an open session, for example one that checks facts.
    #[must_use]
    pub fn over(mut session: Box<dyn Session + 'g>) -> Self {
        let canceller = Canceller::default();
        session.cancel_by(canceller.of_session());
        Self {
            session,
            canceller,
            inputs: Inputs::default(),
        }
    }

    /// The machine.
    #[must_use]
    pub fn device(&self) -> &DeviceInfo {
        self.session.device()
    }

    /// Time of the graph's upload, nanoseconds, which is a part of the time to open the session; 0 on
    /// the CPU.
    #[must_use]
    pub fn upload_ns(&self) -> u64 {
        self.session.upload_ns()
    }

    /// Returns what the session moved, allocated and waited for since it was opened.
    #[must_use]
    pub fn work(&self) -> SessionWork {
        self.session.work()
    }

    /// Returns the memory that the session holds.
    #[must_use]
    pub fn memory(&self) -> SessionMemory {
        self.session.memory()
    }

    /// The devices that share the program, and what they told each other in the last run; `None`
    /// for one device.
    #[must_use]
    pub fn devices(&self) -> Option<DevicesReport> {
        self.session.devices()
    }

    /// Ends runs of this session from another thread.
    #[must_use]
    pub fn canceller(&self) -> Canceller {
        self.canceller.clone()
    }

    /// Sets whether later runs are traced, which costs a program that is loaded afterwards some
    /// memory.
    pub fn trace_runs(&mut self, trace: bool) {
        self.session.trace_runs(trace);
    }

    /// Loads `program`, without inputs.
    ///
    /// # Errors
    /// As for [`Session::load`].
    pub fn load(&mut self, program: &EncodedProgram) -> Result<(), BackendError> {
        self.session.load(program)?;
        self.inputs = Inputs::of(program);
        Ok(())
    }

    /// Sets the words of an input register for later runs.
    ///
    /// # Errors
    /// [`BackendError::NotAnInput`] for another register, [`BackendError::InputLength`] for
    /// another number of words than it has; if nothing is loaded or the register belongs to
    /// another program.
    pub fn set_input(&mut self, register: RegisterId, words: &[u32]) -> Result<(), BackendError> {
        self.inputs.set(register, words)
    }

    /// Runs the program once.
    ///
    /// # Errors
    /// [`BackendError::InputMissing`] if an input register was never set; as for
    /// [`Session::run`].
    pub fn run(&mut self) -> Result<RunStats, BackendError> {
        self.inputs.check()?;
        self.session.run(&self.inputs.words)
    }

    /// Copies a register into `words`, replacing its content.
    ///
    /// # Errors
    /// As for [`Session::read`].
    pub fn read(&mut self, register: RegisterId, words: &mut Vec<u32>) -> Result<(), BackendError> {
        self.session.read(register, words)
    }
}

impl Inputs {
    fn of(program: &EncodedProgram) -> Self {
        let registers = 0..program.registers.len() as u32;
        let places = registers.map(|number| Some((program.input_words(number)?, false)));
        Self {
            ids: Some(Ids::of(program)),
            words: vec![0; (program.input_bytes / 4) as usize],
            places: places.collect(),
            names: (0..program.registers.len() as u32)
                .map(|number| program.register_name(number))
                .collect(),
        }
    }

    fn set(&mut self, register: RegisterId, words: &[u32]) -> Result<(), BackendError> {
        let ids = self.ids.as_ref().ok_or(BackendError::NotLoaded)?;
        let number = ids.number_of(register)?;
        let Some(Some((range, is_set))) = self.places.get_mut(number) else {
            return Err(BackendError::NotAnInput {
                name: self.names.get(number).cloned().unwrap_or_default(),
                register: number as u32,
            });
        };
        let (expected, given) = (range.len() as u64, words.len() as u64);
        match self.words.get_mut(range.clone()) {
            Some(place) if expected == given => place.copy_from_slice(words),
            _ => return Err(BackendError::InputLength { expected, given }),
        }
        *is_set = true;
        Ok(())
    }

    /// Refuses a run with an input that was never set.
    fn check(&self) -> Result<(), BackendError> {
        let is_missing = |place: &Option<(Range<usize>, bool)>| matches!(place, Some((_, false)));
        match self.places.iter().position(is_missing) {
            Some(number) => Err(BackendError::InputMissing {
                name: self.names.get(number).cloned().unwrap_or_default(),
                register: number as u32,
            }),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{PlanRequest, ProgramBuilder};

    #[test]
    fn inputs_that_are_missing_or_none_are_refused() {
        let graph = Graph::from_edges(2, &[], false).unwrap();
        let mut program = ProgramBuilder::new(2);
        let given = program.input("given", 2).unwrap();
        let made = program.words("made", 2).unwrap();
        program.fill("make", made, 7);
        program.keep(made);
        program.keep(given);
        let (encoded, _) = program.encode(&PlanRequest::default()).unwrap();
        let mut session = ProgramSession::open(&graph, &Machine::cpu(None)).unwrap();
        let early = session.set_input(given, &[1, 2]).unwrap_err();
        assert!(matches!(early, BackendError::NotLoaded), "{early}");
        session.load(&encoded).unwrap();
        let missing = session.run().unwrap_err();
        assert!(
            matches!(&missing, BackendError::InputMissing { name, register: 0 } if name == "given"),
            "{missing}"
        );
        let short = session.set_input(given, &[1]).unwrap_err();
        assert!(
            matches!(
                short,
                BackendError::InputLength {
                    expected: 2,
                    given: 1
                }
            ),
            "{short}"
        );
        let other = session.set_input(made, &[1, 2]).unwrap_err();
        assert!(
            matches!(&other, BackendError::NotAnInput { name, .. } if name == "made"),
            "{other}"
        );
        let foreign = ProgramBuilder::new(2).input("foreign", 2).unwrap();
        let foreign = session.set_input(foreign, &[1, 2]).unwrap_err();
        assert!(
            matches!(foreign, BackendError::ForeignRegister { .. }),
            "{foreign}"
        );
        session.set_input(given, &[5, 6]).unwrap();
        session.run().unwrap();
        let mut words = Vec::new();
        session.read(given, &mut words).unwrap();
        assert_eq!(words, [5, 6]);
    }
}
