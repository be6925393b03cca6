//! Liveness of all functions of a module, here and by the register allocator regalloc2.
//!
//! ```text
//! cargo run --release -p seawall-modules --example live_registers -- module.wasm
//! ```
//!
//! The allocator gets a virtual register for each cell. It keeps its sets to itself, but tells where
//! the value of a register is, for debug information: a register is live at the start of a block if
//! it is somewhere there. Its rules ask for three things that bodies lack: definitions of all
//! registers before the first block, no edge from one of several successors to one of several
//! predecessors, and a jump or a return at the end of each block.
//!
//! Times are of one thread, medians of five. Those of regalloc2 are of runs that it ends after its
//! liveness, since a register is live that nothing defines. Exit code 1 and the block if one of a
//! function that is not too large has other live cells here.

use regalloc2::{
    Block, Ctx, Function as Input, Inst, InstRange, MachineEnv, Operand, PReg, PRegSet, ProgPoint,
    RegAllocError, RegClass, RegallocOptions, VReg, run_with_ctx,
};
use seawall::executor::Machine;
use seawall_modules::analysis::{LIVENESS, Lived, liveness};
use seawall_modules::cells::{Access, Cells, visit};
use seawall_modules::flow::{On, solve};
use seawall_modules::model::{Function, Program};
use std::collections::BTreeSet;
use std::error::Error;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

/// Runs of each program, of which the median is printed.
const RUNS: usize = 5;

/// Blocks times cells of the largest function that is compared. The allocator places each register
/// as well, which takes minutes in larger ones.
const PAIRS_MOST: usize = 1 << 19;

type Set = BTreeSet<u32>;

/// A body, as the allocator takes it: block 0 comes before the first one of the body, and blocks
/// between branches and joins come last.
#[derive(Default)]
pub(crate) struct Flow {
    /// Operands of all instructions, and the first one of each.
    operands: Vec<Operand>,
    first_operand: Vec<usize>,
    /// First instruction of each block.
    first_inst: Vec<usize>,
    successors: Vec<Vec<Block>>,
    predecessors: Vec<Vec<Block>>,
    registers: usize,
    labels: Vec<(VReg, Inst, Inst, u32)>,
}

fn register(cell: u32) -> VReg {
    VReg::new(cell as usize, RegClass::Int)
}

const fn cell_of(access: Access) -> Option<u32> {
    match access {
        Access::Use { cell, .. } | Access::Define { cell, .. } | Access::Change { cell, .. } => {
            Some(cell)
        }
        Access::Call { .. } => None,
    }
}

impl Flow {
    /// A body in which everything is defined before the first block.
    pub(crate) fn whole(function: &Function, cells: Cells) -> Self {
        Self::of(function, cells, |flow| {
            for cell in 0..flow.registers as u32 {
                flow.push([Operand::any_def(register(cell))]);
            }
        })
    }

    /// A body that uses a register which nothing defines.
    fn refused(function: &Function, cells: Cells) -> Self {
        Self::of(function, cells, |flow| {
            let more = flow.registers as u32;
            flow.registers += 1;
            flow.push([Operand::any_use(register(more))]);
        })
    }

    fn of(function: &Function, cells: Cells, before: impl Fn(&mut Self)) -> Self {
        let body = &function.body;
        let mut all = vec![Vec::new(); body.blocks.len()];
        for (block, accesses) in all.iter_mut().enumerate() {
            visit(function, cells, block, |access| accesses.push(access));
        }
        let named = || all.iter().flatten().filter_map(|access| cell_of(*access));
        // Calls and exits use the cells that outlive the function.
        let shared: Set = named().filter(|cell| cells.outlives(*cell)).collect();
        let mut flow = Self {
            registers: named().max().map_or(1, |last| last as usize + 1),
            ..Self::default()
        };
        flow.begin();
        before(&mut flow);
        flow.push([]);
        for (block, accesses) in all.iter().enumerate() {
            flow.begin();
            for access in accesses {
                match access {
                    Access::Use { cell, .. } => flow.push([Operand::any_use(register(*cell))]),
                    Access::Define { cell, .. } => flow.push([Operand::any_def(register(*cell))]),
                    Access::Call { .. } => flow.use_all(&shared),
                    Access::Change { .. } => {}
                }
            }
            if body.is_exit(block) {
                flow.use_all(&shared);
            }
            flow.push([]);
        }
        flow.connect(function);
        let end = Inst::new(flow.num_insts());
        let cells = 0..flow.registers as u32;
        let every = cells.map(|cell| (register(cell), Inst::new(0), end, cell));
        flow.labels = every.collect();
        flow
    }

    /// Begins a block with an instruction that does nothing.
    fn begin(&mut self) {
        self.first_inst.push(self.first_operand.len());
        self.push([]);
    }

    fn push(&mut self, operands: impl IntoIterator<Item = Operand>) {
        self.first_operand.push(self.operands.len());
        self.operands.extend(operands);
    }

    fn use_all(&mut self, cells: &Set) {
        self.push(cells.iter().map(|cell| Operand::any_use(register(*cell))));
    }

    fn connect(&mut self, function: &Function) {
        let body = &function.body;
        let mut ways = vec![0; body.blocks.len()];
        ways[0] = 1;
        for to in &body.successors {
            ways[*to as usize] += 1;
        }
        self.successors = vec![vec![Block::new(1)]];
        for block in 0..body.blocks.len() {
            let row = body.successors_of(block).iter();
            let row = row.map(|to| Block::new(*to as usize + 1));
            self.successors.push(row.collect());
        }
        for block in 0..body.blocks.len() {
            let row = body.successors_of(block);
            for (place, to) in row.iter().enumerate() {
                if row.len() > 1 && ways[*to as usize] > 1 {
                    let between = Block::new(self.successors.len());
                    let target = std::mem::replace(&mut self.successors[block + 1][place], between);
                    self.successors.push(vec![target]);
                    self.begin();
                    self.push([]);
                }
            }
        }
        self.predecessors = vec![Vec::new(); self.successors.len()];
        for (block, row) in self.successors.iter().enumerate() {
            for to in row {
                self.predecessors[to.index()].push(Block::new(block));
            }
        }
    }

    /// Runs the allocator; cells that are live at the start of each of the first blocks of the body.
    pub(crate) fn live(&self, blocks: usize, ctx: &mut Ctx) -> Result<Vec<Set>, RegAllocError> {
        let output = run_with_ctx(self, &registers(), &RegallocOptions::default(), ctx)?;
        let mut live = vec![Set::new(); blocks];
        let starts = self.first_inst[1..=blocks].iter();
        let starts = starts.map(|first| ProgPoint::before(Inst::new(*first)));
        let starts: Vec<ProgPoint> = starts.collect();
        for (cell, from, to, _) in &output.debug_locations {
            let first = starts.partition_point(|start| start < from);
            let end = starts.partition_point(|start| start < to);
            for block in &mut live[first..end.max(first)] {
                block.insert(*cell);
            }
        }
        Ok(live)
    }

    /// The block that an instruction is the last one of.
    fn ends(&self, inst: Inst) -> Option<usize> {
        let after = self
            .first_inst
            .partition_point(|first| *first <= inst.index());
        let end = self.first_inst.get(after).copied();
        let end = end.unwrap_or(self.first_operand.len());
        (inst.index() + 1 == end).then(|| after - 1)
    }
}

/// Eight registers of a class.
fn registers() -> MachineEnv {
    let eight = (0..8).map(|number| PReg::new(number, RegClass::Int));
    MachineEnv {
        preferred_regs_by_class: [eight.collect(), Vec::new(), Vec::new()],
        non_preferred_regs_by_class: [const { Vec::new() }; 3],
        scratch_by_class: [None; 3],
        fixed_stack_slots: Vec::new(),
    }
}

impl Input for Flow {
    fn num_insts(&self) -> usize {
        self.first_operand.len()
    }

    fn num_blocks(&self) -> usize {
        self.first_inst.len()
    }

    fn entry_block(&self) -> Block {
        Block::new(0)
    }

    fn block_insns(&self, block: Block) -> InstRange {
        let end = self.first_inst.get(block.index() + 1).copied();
        let end = end.unwrap_or(self.first_operand.len());
        InstRange::new(Inst::new(self.first_inst[block.index()]), Inst::new(end))
    }

    fn block_succs(&self, block: Block) -> &[Block] {
        &self.successors[block.index()]
    }

    fn block_preds(&self, block: Block) -> &[Block] {
        &self.predecessors[block.index()]
    }

    fn block_params(&self, _: Block) -> &[VReg] {
        &[]
    }

    fn is_ret(&self, inst: Inst) -> bool {
        let block = self.ends(inst);
        block.is_some_and(|block| self.successors[block].is_empty())
    }

    fn is_branch(&self, inst: Inst) -> bool {
        let block = self.ends(inst);
        block.is_some_and(|block| !self.successors[block].is_empty())
    }

    fn branch_blockparams(&self, _: Block, _: Inst, _: usize) -> &[VReg] {
        &[]
    }

    fn inst_operands(&self, inst: Inst) -> &[Operand] {
        let end = self.first_operand.get(inst.index() + 1).copied();
        let end = end.unwrap_or(self.operands.len());
        &self.operands[self.first_operand[inst.index()]..end]
    }

    fn inst_clobbers(&self, _: Inst) -> PRegSet {
        PRegSet::empty()
    }

    fn num_vregs(&self) -> usize {
        self.registers
    }

    fn debug_value_labels(&self) -> &[(VReg, Inst, Inst, u32)] {
        &self.labels
    }

    fn spillslot_size(&self, _: RegClass) -> usize {
        1
    }
}

/// Cells of a function that are live at the start of a block here.
pub(crate) fn live_here(lived: &Lived, function: usize, block: usize) -> Set {
    let facts = (0..).zip(&lived.live[function].cells);
    facts
        .filter(|(fact, _)| lived.solution.passes(function, block, *fact))
        .map(|(_, cell)| *cell)
        .collect()
}

/// The functions that have blocks, with their cells.
pub(crate) fn bodies(program: &Program) -> impl Iterator<Item = (usize, &Function, Cells)> {
    let numbered = program.functions.iter().enumerate();
    let bodies = numbered.filter(|(_, function)| !function.body.blocks.is_empty());
    bodies.map(|(number, function)| {
        let module = &program.modules[function.module as usize];
        (number, function, Cells::of(function, module))
    })
}

/// The functions that are compared.
fn compared(program: &Program) -> impl Iterator<Item = (usize, &Function, Cells)> {
    bodies(program).filter(|(_, function, cells)| {
        let blocks = function.body.blocks.iter();
        let highest = blocks.map(|block| block.height).max().unwrap_or(0);
        function.body.blocks.len() * cells.slot(highest) as usize <= PAIRS_MOST
    })
}

/// Compares the live cells of all blocks of functions that are not too large; the first block that
/// differs.
///
/// # Errors
/// Those of the allocator.
pub(crate) fn difference(
    program: &Program,
    lived: &Lived,
) -> Result<Option<String>, RegAllocError> {
    let mut ctx = Ctx::default();
    for (number, function, cells) in compared(program) {
        let blocks = function.body.blocks.len();
        let expected = Flow::whole(function, cells).live(blocks, &mut ctx)?;
        for (block, expected) in expected.iter().enumerate() {
            let found = live_here(lived, number, block);
            if found != *expected {
                let label = function.label();
                return Ok(Some(format!(
                    "block {block} of {label}: {found:?} here, {expected:?} there"
                )));
            }
        }
    }
    Ok(None)
}

fn median(mut job: impl FnMut()) -> Duration {
    let mut times = [Duration::ZERO; RUNS];
    for time in &mut times {
        let clock = Instant::now();
        job();
        *time = clock.elapsed();
    }
    times.sort_unstable();
    times[RUNS / 2]
}

fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    pool.install(compare)
}

fn compare() -> Result<(), Box<dyn Error + Send + Sync>> {
    let mut program = Program::default();
    for path in std::env::args().skip(1) {
        let bytes = std::fs::read(&path)?;
        seawall_modules::read(&mut program, &path, bytes)?;
    }
    let on = On::new(Machine::cpu(NonZeroUsize::new(1)));
    let stated = median(|| drop(liveness(&program)));
    let (problems, _) = liveness(&program);
    let mut failed = None;
    let solved = median(|| failed = solve(&program, LIVENESS, &problems, on).err());
    if let Some(error) = failed {
        return Err(error.into());
    }
    let flows = || bodies(&program).map(|(_, function, cells)| Flow::refused(function, cells));
    let laid_out = median(|| drop(flows().collect::<Vec<Flow>>()));
    let flows: Vec<Flow> = flows().collect();
    let (registers, options) = (registers(), RegallocOptions::default());
    let mut ctx = Ctx::default();
    let mut refused = 0;
    let ran = median(|| {
        let ends = flows.iter().filter(|flow| {
            let end = run_with_ctx(*flow, &registers, &options, &mut ctx);
            matches!(end, Err(RegAllocError::EntryLivein))
        });
        refused = ends.count();
    });
    if refused != flows.len() {
        return Err("the allocator went on after its liveness".into());
    }
    let lived = Lived::of(&program, on)?;
    let blocks = program.blocks();
    println!("{} functions, {blocks} blocks", flows.len());
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    let (stated, solved) = (ms(stated), ms(solved));
    println!("here       {stated:8.1} ms sets, {solved:8.1} ms solved");
    let (laid_out, ran) = (ms(laid_out), ms(ran));
    println!("regalloc2  {laid_out:8.1} ms input, {ran:8.1} ms run");
    if let Some(difference) = difference(&program, &lived)? {
        return Err(difference.into());
    }
    let blocks = compared(&program).map(|(_, function, _)| function.body.blocks.len());
    let (functions, blocks) = (compared(&program).count(), blocks.sum::<usize>());
    println!("the same cells are live at the start of {blocks} blocks of {functions} functions");
    Ok(())
}
