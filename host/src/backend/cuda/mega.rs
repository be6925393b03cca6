//! The persistent kernel: one cooperative launch walks the whole program.
//!
//! There is no launch, no copy and no wait of the host between two waves. The host learns the
//! outcome from one readback of the control block. A kernel pays in registers for every opcode that
//! it knows, so there are narrower variants of it; the device crate chooses the one that fits a
//! program. A program of code runs interpreted, or by machine code of its own ([`LinkedCode`]).

use super::GridShape;
use super::entry::Entry;
use super::launch::{Grid, Residency};
use super::linked::{LinkedCode, LinkedKernels, Programs};
use super::module::{Kernel, Module};
use super::running::Running;
use super::shape::RequestedShape;
use crate::backend::lanes::Work;
use crate::backend::{BackendError, CodeReport};
use crate::executor::Jit;
use crate::graph::Graph;
use crate::program::encoded::EncodedProgram;
use seawall_core::abi::facts::Stage;
use seawall_core::abi::program::Opcode;
use seawall_core::launch::LaunchMode;
use seawall_device::algorithms::family;
use std::rc::Rc;
use std::sync::Arc;

/// Most lanes of a block that only runs code. A lane runs code for four items at a time, so these
/// have as many accesses in flight as twice the lanes with one each; more lanes would leave the
/// interpreter fewer registers than it needs.
const CODE_LANES: u32 = 512;

/// The persistent kernels and their shapes.
#[derive(Debug)]
pub(super) struct Mega {
    module: Rc<Module>,
    asked: RequestedShape,
    jit: Jit,
    search: Grid,
    /// The kernel of the loaded program, if it does more than search, and its shape; `None` until a
    /// program needs one, as compiling it takes seconds.
    whole: Option<Grid>,
    /// The code of the loaded program, if it has some, and the grid of the kernel with it once
    /// there is one.
    code: Option<Box<LinkedCode>>,
    linked: Option<Grid>,
}

impl Mega {
    /// Shapes the kernel of searches; fails if a grid is not co-resident.
    pub(super) fn new(
        module: &Rc<Module>,
        asked: RequestedShape,
        jit: Jit,
    ) -> Result<Self, BackendError> {
        let (searching, _) = asked.for_work(Work::Searches, true);
        Ok(Self {
            module: Rc::clone(module),
            asked,
            jit,
            search: clustered(
                &kernel(module, Entry::MegaSearch, None, &searching)?,
                searching,
            )?,
            whole: None,
            code: None,
            linked: None,
        })
    }

    /// Chooses the kernel and its shape for `program` on `graph`.
    pub(super) fn choose(
        &mut self,
        program: &EncodedProgram,
        graph: &Graph,
    ) -> Result<(), BackendError> {
        (self.whole, self.code, self.linked) = (None, None, None);
        let own = program.used_waves();
        let own = own.map(|own| self.module.own_text(own)).transpose()?;
        let entry = match own {
            Some(_) => Entry::OwnMega,
            None => entry_for(program),
        };
        if entry == Entry::MegaSearch {
            return Ok(());
        }
        let is_hot = ![Entry::Mega, Entry::OwnMega].contains(&entry);
        let (mut flat, mode) = self.asked.for_work(work_of(program), is_hot);
        if entry == Entry::MegaCode && self.asked.lanes.is_none() {
            flat.lanes = flat.lanes.map(|lanes| lanes.min(CODE_LANES));
        }
        let entry = in_mode(entry, mode);
        let kernel = kernel(&self.module, entry, own, &flat)?;
        self.whole = Some(Grid::new(kernel, flat, Residency::Cooperative)?);
        if entry == Entry::MegaCode {
            let kernels = LinkedKernels {
                entries: &[Entry::MegaLinked],
                shape: flat,
                residency: Residency::Cooperative,
            };
            let code = LinkedCode::of(Programs::one(program, graph), self.jit, kernels);
            self.code = Some(Box::new(code));
            self.link();
        }
        Ok(())
    }

    /// Takes the machine code of the program, if it is there or due.
    fn link(&mut self) {
        if self.linked.is_none()
            && let Some(code) = &mut self.code
        {
            self.linked = code.grid(&self.module);
        }
    }

    /// Counts a run, after which machine code may pay or be there.
    pub(super) fn ran(&mut self, run_ns: u64) {
        if let Some(code) = &mut self.code {
            code.ran(run_ns);
        }
        self.link();
    }

    /// Whether runs take machine code of the program.
    pub(super) const fn is_linked(&self) -> bool {
        self.linked.is_some()
    }

    /// How waves of code run, if the program has some.
    pub(super) fn code_report(&self) -> Option<CodeReport> {
        self.code.as_deref().map(LinkedCode::report)
    }

    /// The grid of the launch.
    pub(super) fn shape(&self) -> GridShape {
        self.grid().shape()
    }

    /// See [`Grid::space`].
    pub(super) fn space(&self, wanted: u32) -> Result<u32, BackendError> {
        self.grid().space(wanted)
    }

    /// See [`Grid::ask`]; programs that only search need no shared memory.
    pub(super) fn ask(&mut self, words: u32) -> Result<(), BackendError> {
        match &mut self.whole {
            Some(grid) => grid.ask(words),
            None => Ok(()),
        }
    }

    fn grid(&self) -> &Grid {
        let whole = self.linked.as_ref().or(self.whole.as_ref());
        whole.unwrap_or(&self.search)
    }

    /// Queues the run.
    pub(super) fn queue(&self, running: &mut Running<'_>) -> Result<(), BackendError> {
        // SAFETY: the loaded program holds the record and everything it refers to, and outlives
        // the run.
        unsafe {
            self.grid()
                .launch(running.stream(), running.program().record(), &[])?;
        }
        running.launched(1);
        Ok(())
    }
}

/// A persistent kernel, compiled for the requested shape.
fn kernel(
    module: &Rc<Module>,
    entry: Entry,
    own: Option<Arc<str>>,
    asked: &RequestedShape,
) -> Result<Kernel, BackendError> {
    let units = module.context().limits().info.units;
    module.kernel_within(entry, asked.bound(units), own)
}

/// Shapes a kernel that profits from clusters: of the requested size, or the largest below it that
/// the device has space for.
fn clustered(kernel: &Kernel, asked: RequestedShape) -> Result<Grid, BackendError> {
    let grid = Grid::new(kernel.clone(), asked, Residency::Cooperative);
    match (grid, asked.cluster) {
        (Err(BackendError::NotCoResident { .. }), Some(size @ 2..)) => {
            let cluster = Some(size / 2);
            clustered(kernel, RequestedShape { cluster, ..asked })
        }
        (grid, _) => grid,
    }
}

/// The kernel that runs programs for `entry` in `mode`. Only the interpreter needs another one: with
/// linked code, the general kernel holds none.
fn in_mode(entry: Entry, mode: LaunchMode) -> Entry {
    match (mode, entry) {
        (LaunchMode::Interpreter, Entry::MegaCode) => Entry::MegaAll,
        (LaunchMode::Interpreter | LaunchMode::Fused, entry) => entry,
    }
}

/// The kernel that fits `program`.
fn entry_for(program: &EncodedProgram) -> Entry {
    const NARROW: [Entry; 4] = [
        Entry::MegaSearch,
        Entry::MegaRounds,
        Entry::MegaCode,
        Entry::MegaAll,
    ];
    let name = kernel_for(program);
    let is_named =
        |entry: &Entry| name.is_some_and(|name| entry.name().to_bytes() == name.as_bytes());
    NARROW.into_iter().find(is_named).unwrap_or(Entry::Mega)
}

/// Name of the kernel that fits `program`; `None` for an opcode that this version does not know,
/// for which the whole kernel reports a fault.
fn kernel_for(program: &EncodedProgram) -> Option<&'static str> {
    let opcodes = program
        .waves
        .iter()
        .map(|wave| Opcode::from_word(wave.opcode));
    let known: Option<Vec<Opcode>> = opcodes.collect();
    known.map(seawall_device::megakernel_for)
}

/// Returns the dominant work of `program`, other than searching.
fn work_of(program: &EncodedProgram) -> Work {
    let has = |wanted: fn(Opcode) -> bool| {
        let opcodes = program.waves.iter();
        opcodes
            .filter_map(|wave| Opcode::from_word(wave.opcode))
            .any(wanted)
    };
    if has(|opcode| opcode.facts().stage == Stage::Round && opcode.family() & family::ROUNDS != 0) {
        Work::Rounds
    } else if has(|opcode| opcode == Opcode::HookReached) {
        // After a search, passes over all nodes.
        Work::Passes
    } else if has(|opcode| matches!(opcode, Opcode::LinkSample | Opcode::LinkRest)) {
        Work::Components
    } else {
        Work::Passes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::encoded::GraphNeeds;
    use seawall_core::abi::program::{NO_REGISTER, WaveRecord};
    use seawall_core::abi::search::SearchPolicy;

    fn program(opcodes: &[u32]) -> EncodedProgram {
        let wave = |&opcode| WaveRecord {
            opcode,
            wave: 0,
            destination: 0,
            sources: [NO_REGISTER; 4],
            parameters: [0; 5],
        };
        EncodedProgram {
            nodes: 0,
            ids: Vec::new(),
            groups: Vec::new(),
            top_groups: 0,
            group_bytes: Vec::new(),
            once: Vec::new(),
            waves: opcodes.iter().map(wave).collect(),
            registers: Vec::new(),
            code: Vec::new(),
            wave_names: Vec::new(),
            register_names: Vec::new(),
            arena_bytes: 0,
            input_bytes: 0,
            needs: GraphNeeds::default(),
            planned_for: 0,
            search: SearchPolicy::default(),
            own: None,
        }
    }

    #[test]
    fn no_mode_sends_code_to_a_kernel_without_it() {
        let all = [Entry::Mega, Entry::MegaAll, Entry::OwnMega];
        for entry in all {
            assert_eq!(in_mode(entry, LaunchMode::Interpreter), entry);
        }
        assert_eq!(
            in_mode(Entry::MegaCode, LaunchMode::Interpreter),
            Entry::MegaAll
        );
        assert_eq!(in_mode(Entry::MegaCode, LaunchMode::Fused), Entry::MegaCode);
    }

    #[test]
    fn every_choice_of_the_device_crate_is_an_entry() {
        for opcode in Opcode::ALL {
            let name = kernel_for(&program(&[opcode as u32])).unwrap();
            let entries = Entry::ALL;
            assert!(
                entries
                    .iter()
                    .any(|entry| entry.name().to_bytes() == name.as_bytes()),
                "{name}"
            );
        }
    }

    #[test]
    fn an_opcode_of_another_version_gets_the_whole_kernel() {
        assert_eq!(kernel_for(&program(&[Opcode::Expand as u32, 9_999])), None);
    }
}
