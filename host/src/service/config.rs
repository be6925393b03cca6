//! Configuration of a service.

use super::error::StartError;
use super::worker::Call;
use crate::backend::cpu::{THREADS_MAX, available_threads};
use crate::executor::Jit;
use crate::program::{EncodedProgram, RegisterId};
use seawall_core::abi::program::{Opcode, Region};
use seawall_core::abi::ring::{Kind, RESULTS, TASK, TENANTS, TenantRecord};
use seawall_core::protocol::Outcome;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

/// Default number of a GPU's worker blocks.
pub const BLOCKS: NonZeroUsize = NonZeroUsize::new(96).unwrap();

/// A handler of a user's opcode, which maps a turn to its outcome. It should check
/// [`Call::is_over`] now and then.
pub type Handler = dyn Fn(&Call<'_>) -> Outcome + Send + Sync;

/// A wave program that queries may run.
#[derive(Clone, Debug)]
pub struct Program {
    /// The program.
    pub program: Arc<EncodedProgram>,
    /// The register that answers a query.
    pub result: RegisterId,
    /// The user's opcode that also runs it: the slot's first arguments are its inputs, and its
    /// result is the slot's.
    pub opcode: Option<u32>,
}

impl Program {
    /// A program that only [`Query::Run`](super::Query::Run) runs, by its number.
    #[must_use]
    pub const fn new(program: Arc<EncodedProgram>, result: RegisterId) -> Self {
        Self {
            program,
            result,
            opcode: None,
        }
    }

    /// A program that [`Query::User`](super::Query::User) runs, too. Its inputs must be one
    /// register of 11 words at most, and its result have 9 at most.
    #[must_use]
    pub fn with_opcode(self, opcode: u32) -> Self {
        Self {
            opcode: Some(opcode),
            ..self
        }
    }

    /// Returns the place and value of a word in `inputs` that is a source of a search, but no node
    /// of the program's graphs. Searches skip such sources, which would answer another question;
    /// callers with foreign inputs, such as `seawall serve`, check this first. Sources that waves
    /// compute are not inputs, and are not checked; inputs of another length than the program's
    /// have none.
    #[must_use]
    pub fn stray_source(&self, inputs: &[u32]) -> Option<(usize, u32)> {
        let program = &self.program;
        if inputs.len() as u64 != program.input_bytes / 4 {
            return None;
        }
        let seeds = program.waves.iter();
        let seeds = seeds.filter(|wave| wave.opcode == Opcode::Seed as u32);
        let mut places = seeds
            .filter_map(|wave| program.input_words(wave.sources[0]))
            .flatten();
        places.find_map(|at| {
            let word = *inputs.get(at)?;
            (word >= program.nodes).then_some((at, word))
        })
    }

    /// Words of its inputs, from the first to the last that it uses, and of its result.
    fn words(&self) -> (u64, u32) {
        let Self {
            program, result, ..
        } = self;
        let inputs = program.registers.iter();
        let inputs = inputs.filter(|register| register.region == Region::Input as u32);
        let ends = inputs.map(|register| register.offset_bytes / 4 + u64::from(register.words));
        let inputs = ends.max().unwrap_or(0);
        let words = (0..).zip(&program.registers);
        let mut of_result = words.filter(|(number, _)| program.register(*number) == Some(*result));
        let words = of_result.next().map_or(0, |(_, register)| register.words);
        (inputs, words)
    }
}

/// A tenant, which posts queries and has its own memory window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tenant {
    /// Kinds that it may post: a bit for each [`Kind`].
    pub mask: u32,
    /// Most of its queries that run at the same time; others wait.
    pub quota: u32,
    /// Words of the memory window.
    pub window_words: u32,
}

impl Default for Tenant {
    /// All kinds that a tenant may have, and 64 Ki words.
    fn default() -> Self {
        Self {
            mask: Kind::TENANT_MASK,
            quota: u32::MAX,
            window_words: 1 << 16,
        }
    }
}

impl Tenant {
    /// A tenant that may only post queries of these kinds.
    #[must_use]
    pub fn limited_to(kinds: &[Kind]) -> Self {
        let mask = kinds.iter().fold(0, |mask, kind| mask | kind.bit());
        Self {
            mask: mask & Kind::TENANT_MASK,
            ..Self::default()
        }
    }
}

/// The machine whose workers serve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum On {
    /// CPU threads.
    #[default]
    Threads,
    /// Blocks of a persistent kernel on a GPU.
    Gpu {
        /// Number of the device.
        device: u32,
    },
    /// The blocks of that kernel on CPU threads, for tests without a GPU.
    Blocks,
}

impl On {
    /// Blocks of a persistent kernel on this GPU.
    #[must_use]
    pub const fn gpu(device: u32) -> Self {
        Self::Gpu { device }
    }
}

/// Sizes, tenants and limits of a service.
#[derive(Clone)]
pub struct Config {
    /// The machine whose workers serve.
    pub on: On,
    /// Worker threads, or blocks of a GPU; as many as the machine runs at once when not given. A
    /// GPU has fewer if its memory is short: each takes 24 bytes per node.
    pub workers: Option<NonZeroUsize>,
    /// Slots of each priority, the most urgent first.
    pub slots: [u32; 5],
    /// Tenants, from number 1 on.
    pub tenants: Vec<Tenant>,
    /// Records of the print log.
    pub print_records: u32,
    /// Time after which a query that runs ends in a fault.
    pub slot_budget: Duration,
    /// Programs, by number from 0 on.
    pub programs: Vec<Program>,
    /// Whether waves of code of programs become machine code: on threads at any time, on a GPU
    /// before the service starts.
    pub jit: Jit,
    /// Handlers of users' opcodes.
    pub handlers: HashMap<u32, Arc<Handler>>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            on: On::Threads,
            workers: None,
            slots: [64, 64, 256, 64, 64],
            tenants: vec![Tenant::default()],
            print_records: 256,
            slot_budget: Duration::from_secs(10),
            programs: Vec::new(),
            jit: Jit::Auto,
            handlers: HashMap::new(),
        }
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("on", &self.on)
            .field("workers", &self.workers)
            .field("slots", &self.slots)
            .field("tenants", &self.tenants)
            .field("programs", &self.programs.len())
            .field("handlers", &self.handlers.keys())
            .finish_non_exhaustive()
    }
}

impl Config {
    /// Returns the number of workers.
    ///
    /// # Errors
    /// [`StartError::TooManyWorkers`] for more than [`THREADS_MAX`].
    pub(super) fn worker_count(&self) -> Result<u32, StartError> {
        let usual = match self.on {
            On::Gpu { .. } => BLOCKS,
            On::Threads => available_threads(),
            On::Blocks => NonZeroUsize::MIN,
        };
        let workers = self.workers.unwrap_or(usual).get();
        if workers > THREADS_MAX {
            return Err(StartError::TooManyWorkers {
                workers,
                most: THREADS_MAX,
            });
        }
        Ok(workers as u32)
    }

    /// The table of tenants, the owner first, and the words of all windows.
    pub(super) fn tenant_records(&self) -> Result<(Vec<TenantRecord>, u32), StartError> {
        let most = TENANTS as usize - 1;
        let tenants = self.tenants.len();
        if tenants == 0 || tenants > most {
            return Err(StartError::Tenants { tenants, most });
        }
        let owner = TenantRecord {
            mask: Kind::Shutdown.bit(),
            quota: 1,
            ..TenantRecord::default()
        };
        let mut records = vec![owner];
        let mut first = 0_u32;
        for (number, tenant) in (1..).zip(&self.tenants) {
            if tenant.quota == 0 {
                return Err(StartError::NoQuota { tenant: number });
            }
            records.push(TenantRecord {
                mask: tenant.mask,
                quota: tenant.quota,
                window_first: first,
                window_words: tenant.window_words,
                ..TenantRecord::default()
            });
            first = first.saturating_add(tenant.window_words);
        }
        Ok((records, first))
    }

    /// Refuses features that only threads support.
    pub(super) fn check_machine(&self) -> Result<(), StartError> {
        let what = match self.on {
            On::Threads => return Ok(()),
            _ if !self.handlers.is_empty() => "handlers of users' opcodes",
            _ => return Ok(()),
        };
        Err(StartError::NeedsThreads { what })
    }

    /// Checks each user's opcode and its use of a slot.
    pub(super) fn check_opcodes(&self) -> Result<(), StartError> {
        let mut known: HashSet<u32> = self.handlers.keys().copied().collect();
        let wrong = |opcode: &u32| Kind::of(*opcode) != Some(Kind::User);
        if let Some(opcode) = known.iter().copied().find(wrong) {
            return Err(StartError::NotAUsersOpcode { opcode });
        }
        for (number, program) in self.programs.iter().enumerate() {
            let Some(opcode) = program.opcode else {
                continue;
            };
            if wrong(&opcode) {
                return Err(StartError::NotAUsersOpcode { opcode });
            }
            if !known.insert(opcode) {
                return Err(StartError::OpcodeTwice { opcode });
            }
            let (inputs, results) = program.words();
            if inputs > TASK as u64 || results as usize > RESULTS {
                return Err(StartError::WideProgram {
                    program: number,
                    inputs,
                    results,
                });
            }
        }
        Ok(())
    }
}
