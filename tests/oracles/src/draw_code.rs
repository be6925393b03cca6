//! Random code that every machine must agree on.
//!
//! Results depend on no order: a register that some items change is not read by others, and floats
//! are not added up. Places in registers are taken modulo their length.

use crate::code::{Binary, Extreme, Gathering, Id, Improvement, Over, Step, Unary};
use crate::graphs::EdgeList;
use crate::random::Random;
use crate::script::{Register, Script, Slot, Wave};
use seawall::program::{CodeError, Edges, Join, Kind, PlanRequest, ProgramError};

/// Target of drawn code.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Around<'a> {
    /// Registers.
    pub(crate) registers: &'a [Register],
    /// Whether each of them was filled.
    pub(crate) written: &'a [bool],
    /// Nodes of the graph.
    pub(crate) nodes: u32,
}

struct Drawer<'a> {
    around: Around<'a>,
    random: &'a mut Random,
    items: u32,
    /// The register that items store to, the one that they change anywhere, the one whose values
    /// they improve, and the one where they note that.
    targets: [Option<Slot>; 4],
    /// Whether larger values are better, and the join of notes.
    better: (bool, Join),
    /// Kinds of the values made so far.
    made: Vec<Kind>,
    steps: Vec<Step>,
}

/// Draws a wave of code, if there is a register for it to change.
pub(crate) fn draw_code(around: Around<'_>, random: &mut Random) -> Option<Wave> {
    let (over, items) = draw_over(around, random)?;
    let mut drawer = Drawer {
        around,
        random,
        items,
        targets: [None; 4],
        better: (false, Join::Or),
        made: Vec::new(),
        steps: Vec::new(),
    };
    drawer.targets[0] = drawer.target(items);
    drawer.targets[1] = drawer.target(1);
    if drawer.random.once_in(2) {
        drawer.targets[2] = drawer.target(1);
        drawer.targets[3] = drawer
            .target(1)
            .filter(|slot| drawer.kind(*slot) == Kind::U32);
        let notes = [Join::Or, Join::Any, Join::Max];
        let how = drawer.random.pick(&notes).unwrap_or(Join::Or);
        drawer.better = (drawer.random.once_in(2), how);
    }
    let read_by_domain = match over {
        Over::Where { of, .. } => Some(of),
        _ => None,
    };
    if drawer
        .targets
        .iter()
        .flatten()
        .any(|slot| Some(*slot) == read_by_domain)
    {
        return None;
    }
    drawer.fill();
    let steps = drawer.steps;
    let wave = Wave::Code { over, steps };
    fits(around, &wave).then_some(wave)
}

fn draw_over(around: Around<'_>, random: &mut Random) -> Option<(Over, u32)> {
    let nodes = around.nodes;
    let slots: Vec<Slot> = (0..around.registers.len()).collect();
    match random.below(4) {
        0 => {
            let slot = random.pick(&slots)?;
            Some((Over::Values(slot), values(&around.registers[slot])))
        }
        1 => {
            let fits = |slot: &Slot| {
                let register = &around.registers[*slot];
                around.written[*slot] && register.kind == Kind::U32 && register.words >= nodes
            };
            let of = random.pick(&slots.into_iter().filter(fits).collect::<Vec<_>>())?;
            let below = random.word() >> random.below(32);
            Some((Over::Where { of, below }, nodes))
        }
        _ => Some((Over::Nodes, nodes)),
    }
}

fn values(register: &Register) -> u32 {
    register.words / register.kind.words()
}

/// Whether there is space for the values of a wave, and at least for one node's edges.
fn fits(around: Around<'_>, wave: &Wave) -> bool {
    let script = Script {
        registers: around.registers.to_vec(),
        waves: vec![wave.clone()],
        twins: false,
    };
    let list = EdgeList {
        nodes: around.nodes,
        edges: Vec::new(),
        undirected: false,
    };
    let encoded = script.assemble(&list).map(|assembled| {
        let request = PlanRequest::default();
        assembled.program.encode(&request)
    });
    !matches!(
        encoded,
        Ok(Err(ProgramError::Code {
            problem: CodeError::TooManyValues { .. },
            ..
        }))
    )
}

/// The farthest instruction back whose value is used.
const WINDOW: usize = 3;

impl Drawer<'_> {
    fn kind(&self, slot: Slot) -> Kind {
        self.around.registers[slot].kind
    }

    /// A filled register that is no target yet, of at least `least` values and one.
    fn target(&mut self, least: u32) -> Option<Slot> {
        let fits = |slot: &Slot| {
            let held = values(&self.around.registers[*slot]);
            let is_target = self.targets.contains(&Some(*slot));
            self.around.written[*slot] && held >= least && held > 0 && !is_target
        };
        let slots: Vec<Slot> = (0..self.around.registers.len()).filter(fits).collect();
        self.random.pick(&slots)
    }

    fn push(&mut self, kind: Kind, step: Step) -> Id {
        self.steps.push(step);
        self.made.push(kind);
        self.made.len() - 1
    }

    /// A recent value of a kind, or a number.
    fn value(&mut self, kind: Kind) -> Id {
        let first = self.made.len().saturating_sub(WINDOW);
        let fits = |id: &Id| self.made[*id] == kind;
        let recent: Vec<Id> = (first..self.made.len()).filter(fits).collect();
        if let Some(id) = self.random.pick(&recent) {
            return id;
        }
        let small = self.random.once_in(2);
        let word = self.random.word() >> if small { 28 } else { 0 };
        let bits = match kind {
            Kind::F32 => (word as f32).to_bits().into(),
            Kind::U64 => u64::from(word) << 20,
            Kind::U32 | Kind::I32 => word.into(),
        };
        self.push(kind, Step::Number(kind, bits))
    }

    fn fill(&mut self) {
        if self.targets[..2].contains(&None) || self.items == 0 {
            return;
        }
        for _ in 0..1 + self.random.below(6) {
            self.add(None);
        }
        if self.random.once_in(3) {
            let condition = self.value(Kind::U32);
            self.steps.push(Step::Only(condition));
        }
        self.improve();
        self.change();
        if let Some(to) = self.targets[0] {
            let kind = self.around.registers[to].kind;
            let value = self.value(kind);
            self.steps.push(Step::Store(to, value));
        }
    }

    /// Changes the second target, or keeps a loop going, or neither.
    fn change(&mut self) {
        let Some(to) = self.targets[1] else { return };
        let kind = self.around.registers[to].kind;
        let Some(how) = self.join(kind) else { return };
        if kind == Kind::U32 && self.random.once_in(3) {
            self.note(to, how);
            return;
        }
        let value = self.value(kind);
        match self.random.below(5) {
            0 | 1 => {
                let at = self.value(Kind::U32);
                self.steps.push(Step::Scatter(to, at, how, value));
            }
            2 | 3 => self.steps.push(Step::Fold(to, how, value)),
            _ => {
                let condition = self.value(Kind::U32);
                self.steps.push(Step::Changed(condition));
            }
        }
    }

    /// Joins a condition to values of a register, and continues a loop by it.
    fn note(&mut self, to: Slot, how: Join) {
        let Some(kind) = self.random.pick(&Kind::ALL) else {
            return;
        };
        let (a, b) = (self.value(kind), self.value(kind));
        let holds = self.push(Kind::U32, Step::Binary(Binary::Below, a, b));
        for _ in 0..1 + self.random.below(3) {
            if self.random.once_in(3) {
                self.steps.push(Step::Changed(holds));
                continue;
            }
            let at = self.value(Kind::U32);
            self.steps.push(Step::Scatter(to, at, how, holds));
        }
    }

    /// Improves a value of a register, if there is one for that.
    fn improve(&mut self) {
        let [_, _, Some(to), mark] = self.targets else {
            return;
        };
        let (largest, how) = self.better;
        let improvement = Improvement {
            to,
            at: self.value(Kind::U32),
            value: self.value(self.kind(to)),
            largest,
            mark: mark.map(|mark| (mark, how)),
            changes: self.random.once_in(2),
        };
        self.steps.push(Step::Improve(improvement));
    }

    /// A join of a kind that depends on no order.
    fn join(&mut self, kind: Kind) -> Option<Join> {
        let fits = |how: &Join| how.takes(kind) && (*how, kind) != (Join::Sum, Kind::F32);
        let hows: Vec<Join> = Join::ALL.into_iter().filter(fits).collect();
        self.random.pick(&hows)
    }

    /// Adds a step, inside of a gathering where there is one.
    fn add(&mut self, inside: Option<Edges>) {
        let drawn = match self.random.below(10) {
            0 | 1 => self.load(inside),
            2..=4 => self.binary(),
            5 => Some(self.shift()),
            6 => self.unary(),
            7 => Some(self.choose()),
            8 if inside.is_none() => self.gather(),
            _ => Some(self.place(inside)),
        };
        if drawn.is_none() {
            self.push(Kind::U32, Step::Index);
        }
    }

    fn place(&mut self, inside: Option<Edges>) -> Id {
        let are_nodes = self.items == self.around.nodes;
        let step = match inside {
            Some(_) => Step::Neighbour,
            None if are_nodes && self.random.once_in(3) => Step::Degree(Edges::Out),
            None if are_nodes && self.random.once_in(3) => Step::Degree(Edges::In),
            None => Step::Index,
        };
        self.push(Kind::U32, step)
    }

    fn load(&mut self, inside: Option<Edges>) -> Option<Id> {
        let choice = self.random.below(4);
        let least = match (choice, inside) {
            (0, Some(_)) => self.around.nodes,
            (0, None) => self.items,
            _ => 1,
        };
        let from = self.target(least)?;
        let kind = self.around.registers[from].kind;
        let step = match (choice, inside) {
            (0, Some(_)) => Step::There(from),
            (0, None) => Step::Load(from),
            (1, _) => Step::Latest(from, self.value(Kind::U32)),
            _ => Step::At(from, self.value(Kind::U32)),
        };
        Some(self.push(kind, step))
    }

    fn binary(&mut self) -> Option<Id> {
        let kind = self.random.pick(&Kind::ALL)?;
        let hows: Vec<Binary> = Binary::ALL
            .into_iter()
            .filter(|how| how.takes(kind))
            .collect();
        let how = self.random.pick(&hows)?;
        let (a, b) = (self.value(kind), self.value(kind));
        let is_truth = matches!(
            how,
            Binary::Equals | Binary::Differs | Binary::Below | Binary::AtMost
        );
        let made = if is_truth { Kind::U32 } else { kind };
        Some(self.push(made, Step::Binary(how, a, b)))
    }

    fn shift(&mut self) -> Id {
        let kinds = [Kind::U32, Kind::I32, Kind::U64];
        let kind = self.random.pick(&kinds).unwrap_or(Kind::U32);
        let a = self.value(kind);
        let by = u64::from(self.random.below(70));
        let by = self.push(Kind::U32, Step::Number(Kind::U32, by));
        let left = self.random.once_in(2);
        self.push(kind, Step::Shift(left, a, by))
    }

    fn unary(&mut self) -> Option<Id> {
        let kind = self.random.pick(&Kind::ALL)?;
        let to = self.random.pick(&Kind::ALL)?;
        let choice = self.random.below(8);
        let (how, made) = match (choice, kind) {
            (0, _) => (Unary::Hash, Kind::U32),
            (1, Kind::U32 | Kind::I32 | Kind::U64) => (Unary::Ones, Kind::U32),
            (2, Kind::U32 | Kind::I32 | Kind::U64) => (Unary::LowZeros, Kind::U32),
            (3, Kind::U64) => (Unary::High, Kind::U32),
            _ => (Unary::To(to), to),
        };
        let a = self.value(kind);
        Some(self.push(made, Step::Unary(how, a)))
    }

    fn choose(&mut self) -> Id {
        let kind = self.random.pick(&Kind::ALL).unwrap_or(Kind::U32);
        let (a, b) = (self.value(Kind::U32), self.value(Kind::U32));
        match self.random.below(4) {
            0 => {
                let seed = self.random.word();
                self.push(Kind::U32, Step::Random(a, b, seed))
            }
            1 => self.push(Kind::U64, Step::Pair(a, b)),
            _ => {
                let (yes, no) = (self.value(kind), self.value(kind));
                self.push(kind, Step::Select(a, yes, no))
            }
        }
    }

    /// Joins the results of a few steps for each edge. Items must be nodes.
    fn gather(&mut self) -> Option<Id> {
        if self.items != self.around.nodes {
            return None;
        }
        let edges = self.random.pick(&[Edges::Out, Edges::In])?;
        let outer = std::mem::take(&mut self.steps);
        let before = self.made.len();
        for _ in 0..1 + self.random.below(3) {
            self.add(Some(edges));
        }
        let value = self.made.len() - 1;
        if self.random.once_in(2) {
            self.improve();
        }
        if self.random.once_in(3) {
            let condition = self.value(Kind::U32);
            self.steps.push(Step::Only(condition));
        }
        let body = std::mem::replace(&mut self.steps, outer);
        let kind = self.made[value];
        self.made.truncate(before);
        let how = self.join(kind)?;
        let gathering = Gathering {
            edges,
            how,
            kind,
            body,
            value,
        };
        if kind != Kind::U64 && self.random.once_in(3) {
            let [largest, node] = [(); 2].map(|()| self.random.once_in(2));
            let made = if node { Kind::U32 } else { kind };
            return Some(self.push(made, Step::Arg(gathering, Extreme { largest, node })));
        }
        Some(self.push(kind, Step::Gather(gathering)))
    }
}
