//! PTX of waves of code, which a host puts into the text of a GPU's kernel.
//!
//! A wave becomes a function that all lanes of a block call. A lane has up to four items at a
//! time, so that as many accesses to memory are in flight. The shape of a function:
//!
//! ```text
//! head     addresses of arrays and registers; neutral values of folds
//! tiles    for each items of a lane's slots:
//!            instructions
//!            an edge part: rows of up to eight edges, one in each slot, by their lane;
//!              longer ones by eight lanes, then by a warp, the longest by the block
//! end      folds join their registers; what was missed and raised goes to the caller
//! ```
//!
//! Nothing branches for one item or edge: a flag says whether it is still in, and accesses to memory
//! ask for it. So all lanes of a warp meet at each vote and shuffle.

mod compute;
mod edges;
mod groups;
mod lists;
mod memory;
mod values;
mod writer;

use crate::code::{self, Joining, Numbered, Piece};
use crate::walk::{Compute, Emitted, Machine, Now, Shape, Spot, Walk};
use crate::{CodeWave, JitError, Tables};
use edges::Edge;
use seawall_core::abi::code::{Joined, Kind, Op};
use seawall_core::abi::compiled::{EachCall, LINKED_NAME};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::mem::offset_of;
use values::{Four, bits};
use writer::{Reg, Writer, put};

/// Items of a lane at a time.
pub(crate) const SLOTS: usize = 4;

type Held = crate::walk::Held<Reg, SLOTS>;
type Temps = crate::walk::Temps<Reg, SLOTS>;

/// The parameters of a function, after the address of the [`EachCall`].
const WORDS: [&str; 6] = [
    "p_rank",
    "p_blocks",
    "p_before",
    "p_items",
    "p_longest",
    "p_scratch",
];

/// The text of the function [`LINKED_NAME`] for waves of one program or of several whose code lies in
/// one table. It takes the place of the function of that name in a kernel's text.
#[derive(Debug, Default)]
pub struct Linked {
    text: String,
    /// The number of each function that was written, by its body: programs for graphs of other sizes
    /// have some in common.
    written: HashMap<String, usize>,
    /// The wave with each first instruction, and the number of its function.
    waves: BTreeMap<u32, (CodeWave, usize)>,
}

impl Linked {
    /// Writes the functions of `waves` of a program whose first instruction is number `first_code`
    /// of the table that kernels read.
    ///
    /// # Errors
    /// [`JitError::Unchecked`] for code that has not passed the checks of programs,
    /// [`JitError::Shared`] for code of two different waves.
    pub fn add(
        &mut self,
        tables: &Tables<'_>,
        first_code: u32,
        waves: &[CodeWave],
    ) -> Result<(), JitError> {
        for wave in waves {
            let body = body(tables, wave)?;
            let next = self.written.len();
            let number = *self.written.entry(body).or_insert_with_key(|body| {
                let _ = write!(self.text, ".func {LINKED_NAME}_{next}{body}");
                next
            });
            let first = first_code.saturating_add(wave.record.first);
            let (known, _) = self.waves.entry(first).or_insert((*wave, number));
            if known != wave {
                let instruction = wave.record.first as usize;
                return Err(JitError::Shared { instruction });
            }
        }
        Ok(())
    }

    /// Number of functions so far.
    #[must_use]
    pub fn functions(&self) -> usize {
        self.written.len()
    }

    /// The text.
    #[must_use]
    pub fn finish(mut self) -> String {
        let calls = self.waves.iter();
        let calls: Vec<_> = calls
            .map(|(first, (_, number))| (*first, *number))
            .collect();
        self.text.push_str(&dispatch(&choice(&calls)));
        self.text
    }
}

/// The call of the function of the wave that is asked for, among those with these first instructions,
/// which rise: by halves, as a batch may have many.
fn choice(calls: &[(u32, usize)]) -> String {
    match calls {
        [] => String::new(),
        [(first, number)] => call(*first, *number),
        _ => {
            let (lower, upper) = calls.split_at(calls.len() / 2);
            let from = upper[0].0;
            format!(
                "\tsetp.ge.u32 %p0, %r0, {from};\n\t@%p0 bra $from_{from};\n{}\tret;\n\
                 $from_{from}:\n{}",
                choice(lower),
                choice(upper)
            )
        }
    }
}

/// The call of function `number` for the wave with this first instruction.
fn call(first: u32, number: usize) -> String {
    let words = 1..=WORDS.len();
    let declared: String = words
        .clone()
        .map(|at| format!(".param .b32 a{at};"))
        .collect();
    let stored: String = words
        .clone()
        .map(|at| format!("st.param.b32 [a{at}], %r{at};"))
        .collect();
    let passed: String = words.map(|at| format!(", a{at}")).collect();
    format!(
        "\tsetp.ne.u32 %p0, %r0, {first};\n\t@%p0 bra $next_{first};\n\
         \t{{ .param .b64 a0;{declared}\n\tst.param.b64 [a0], %d0;{stored}\n\
         \tcall.uni {LINKED_NAME}_{number}, (a0{passed}); }}\n\tret;\n\
         $next_{first}:\n"
    )
}

/// The function that kernels call, around the calls of those of waves. The number of the first
/// instruction comes before the [`WORDS`].
fn dispatch(calls: &str) -> String {
    let count = 1 + WORDS.len();
    let parameters: String = (1..=count)
        .map(|at| format!(", .param .b32 p{at}"))
        .collect();
    let loads: String = (0..count)
        .map(|at| format!("\tld.param.u32 %r{at}, [p{}];\n", at + 1))
        .collect();
    format!(
        ".func {LINKED_NAME}(.param .b64 p0{parameters})\n{{\n\
         \t.reg .b32 %r<{count}>;\n\t.reg .b64 %d<1>;\n\t.reg .pred %p<1>;\n\
         \tld.param.u64 %d0, [p0];\n{loads}{calls}\tret;\n}}\n"
    )
}

/// The parameters and the body of a wave's function.
fn body(tables: &Tables<'_>, wave: &CodeWave) -> Result<String, JitError> {
    let mut emitter = Emitter::new(tables, wave);
    emitter.function()?;
    let body = emitter.w.finish();
    let words: Vec<String> = WORDS
        .iter()
        .map(|name| format!(".param .b32 {name}"))
        .collect();
    Ok(format!(
        "(.param .b64 p_call, {})\n{{\n{body}}}\n",
        words.join(", ")
    ))
}

/// Registers that hold the same value for the whole function.
#[derive(Clone, Copy, Debug)]
struct Place {
    call: Reg,
    rank: Reg,
    blocks: Reg,
    /// Items that are left out.
    before: Reg,
    /// Items after those.
    items: Reg,
    longest: Reg,
    scratch: Reg,
    thread: Reg,
    threads: Reg,
    /// This lane's number in its warp.
    lane: Reg,
    /// The lanes below it.
    below: Reg,
    /// Whether an index was out of range; the index, and the length of its array.
    missed: [Reg; 3],
    /// Whether the code raised the loop's flag.
    raised: Reg,
}

/// Writes one function.
struct Emitter<'t> {
    w: Writer,
    tables: &'t Tables<'t>,
    wave: &'t CodeWave,
    place: Place,
    /// Addresses that the head loads or computes, by what they are of.
    addresses: BTreeMap<Address, Reg>,
    /// The slots that are still in.
    active: Four,
    now: Now<Reg, SLOTS>,
    /// In a part for edges, the edge.
    edge: Option<Edge>,
    /// Results of all items, by instruction.
    folds: BTreeMap<usize, Reg>,
    lists: Vec<lists::List>,
    /// Slots that have items: fewer than [`SLOTS`] where an edge may end its row, as a step that is
    /// in vain then costs less.
    slots: usize,
}

/// An address that does not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Address {
    /// A field of the [`EachCall`].
    Field(usize),
    /// A register of the program.
    Register(u32),
}

impl<'t> Emitter<'t> {
    fn new(tables: &'t Tables<'t>, wave: &'t CodeWave) -> Self {
        let mut w = Writer::default();
        let call = w.pair();
        w.head(format_args!("ld.param.u64 {call}, [p_call]"));
        let [rank, blocks, before, items, longest, scratch] = WORDS.map(|name| {
            let word = w.word();
            w.head(format_args!("ld.param.u32 {word}, [{name}]"));
            word
        });
        let [thread, threads, lane, below] =
            ["%tid.x", "%ntid.x", "%laneid", "%lanemask_lt"].map(|name| {
                let word = w.word();
                w.head(format_args!("mov.u32 {word}, {name}"));
                word
            });
        let missed = [(); 3].map(|()| w.word());
        for word in missed {
            w.head(format_args!("mov.b32 {word}, 0"));
        }
        let raised = w.flag();
        w.head(format_args!("mov.pred {raised}, 0"));
        let place = Place {
            call,
            rank,
            blocks,
            before,
            items,
            longest,
            scratch,
            thread,
            threads,
            lane,
            below,
            missed,
            raised,
        };
        let active = [(); SLOTS].map(|()| w.flag());
        for flag in active {
            w.head(format_args!("mov.pred {flag}, 0"));
        }
        let zero = Held::word([lane; SLOTS]);
        Self {
            w,
            tables,
            wave,
            place,
            addresses: BTreeMap::new(),
            active,
            now: Now::new(zero, zero),
            edge: None,
            folds: BTreeMap::new(),
            lists: Vec::new(),
            slots: SLOTS,
        }
    }

    fn function(&mut self) -> Emitted {
        let code = code::of_wave(self.tables, self.wave)?;
        let folds = code::folds(code)?;
        if code.1.iter().any(code::may_end_row) {
            self.slots = SLOTS / 2;
        }
        for fold in &folds {
            let part = self.neutral(fold.joined);
            self.folds.insert(fold.number, part);
        }
        self.begin_lists(code.1);
        let Place {
            rank,
            blocks,
            items,
            thread,
            threads,
            lane,
            ..
        } = self.place;
        // Chunks of up to a warp's lanes go to the warps of all blocks in turn.
        let [warps, chunk, own, stride] = [(); 4].map(|()| self.w.word());
        put!(self.w, "shr.u32 {warps}, {threads}, 5");
        put!(self.w, "mul.lo.u32 {warps}, {warps}, {blocks}");
        put!(self.w, "sub.u32 {chunk}, {items}, 1");
        put!(self.w, "div.u32 {chunk}, {chunk}, {warps}");
        put!(self.w, "add.u32 {chunk}, {chunk}, 1");
        put!(self.w, "min.u32 {chunk}, {chunk}, 32");
        put!(self.w, "shr.u32 {own}, {thread}, 5");
        put!(self.w, "mad.lo.u32 {own}, {own}, {blocks}, {rank}");
        put!(self.w, "mad.lo.u32 {own}, {own}, {chunk}, {lane}");
        put!(self.w, "mul.lo.u32 {stride}, {warps}, {chunk}");
        let used = self.w.flag();
        put!(self.w, "setp.lt.u32 {used}, {lane}, {chunk}");
        let [tile, step, end] = [(); 3].map(|()| self.w.pair());
        let offsets = [(); SLOTS].map(|()| self.w.pair());
        put!(self.w, "cvt.u64.u32 {step}, {stride}");
        put!(self.w, "cvt.u64.u32 {end}, {items}");
        put!(self.w, "cvt.u64.u32 {}, {own}", offsets[0]);
        for slot in 1..self.slots {
            let [before, after] = [offsets[slot - 1], offsets[slot]];
            put!(self.w, "add.u64 {after}, {before}, {step}");
        }
        put!(self.w, "shl.b64 {step}, {step}, {}", self.slots.ilog2());
        put!(self.w, "mov.b64 {tile}, 0");
        let (next, done) = (self.w.label(), self.w.label());
        self.w.mark(next);
        let over = self.w.flag();
        put!(self.w, "setp.ge.u64 {over}, {tile}, {end}");
        put!(self.w, "@{over} bra {done}");
        self.begin_items((tile, end, used), offsets);
        self.items(code)?;
        put!(self.w, "add.u64 {tile}, {tile}, {step}");
        put!(self.w, "bra {next}");
        self.w.mark(done);
        self.end_lists();
        self.end_folds(&folds);
        self.report();
        put!(self.w, "ret");
        Ok(())
    }

    /// The numbers of a lane's items, and which of them there are.
    fn begin_items(&mut self, (tile, end, used): (Reg, Reg, Reg), offsets: Four) {
        let numbers = [(); SLOTS].map(|()| self.w.word());
        let list = self
            .wave
            .is_listed
            .then(|| self.field(offset_of!(EachCall, list)));
        for slot in 0..self.slots {
            let (at, number, active) = (self.w.pair(), numbers[slot], self.active[slot]);
            put!(self.w, "add.u64 {at}, {tile}, {}", offsets[slot]);
            put!(self.w, "setp.lt.and.u64 {active}, {at}, {end}, {used}");
            put!(self.w, "cvt.u32.u64 {number}, {at}");
            put!(self.w, "add.u32 {number}, {number}, {}", self.place.before);
            if let Some(list) = list {
                put!(self.w, "mad.wide.u32 {at}, {number}, 4, {list}");
                put!(self.w, "@{active} ld.global.u32 {number}, [{at}]");
            }
        }
        let mut number = Held::word(numbers);
        if list.is_none() {
            number = number.below(self.wave.record.items.into());
        }
        let zero = self.zero();
        self.now = Now::new(zero, number);
    }

    /// Writes the instructions of an item.
    fn items(&mut self, code: Numbered<'t>) -> Emitted {
        let mut skip = None;
        for piece in code::pieces(code)? {
            match piece {
                Piece::Step(number, at) => {
                    self.step(number, at)?;
                    if code::may_leave(at) {
                        let label = *skip.get_or_insert_with(|| self.w.label());
                        self.skip_to(label);
                    }
                }
                Piece::Edges(begin, code) => {
                    self.flush();
                    // All lanes of a block take part, those without an item too.
                    if let Some(skip) = skip.take() {
                        self.w.mark(skip);
                    }
                    self.edges(begin, code)?;
                }
            }
        }
        self.flush();
        if let Some(skip) = skip {
            self.w.mark(skip);
        }
        Ok(())
    }

    /// Goes to a label if no lane of the warp has a slot that is in.
    fn skip_to(&mut self, label: writer::Label) {
        let any = self.any(self.active);
        put!(self.w, "@!{any} bra {label}");
    }

    /// Whether a lane of the warp has a flag set for some slot.
    fn any(&mut self, flags: Four) -> Reg {
        let any = self.some(flags);
        put!(self.w, "vote.sync.any.pred {any}, {any}, 0xffffffff");
        any
    }

    /// Whether this lane has a flag set for some slot.
    fn some(&mut self, flags: Four) -> Reg {
        let some = self.w.flag();
        put!(self.w, "mov.pred {some}, {}", flags[0]);
        for flag in &flags[1..] {
            put!(self.w, "or.pred {some}, {some}, {flag}");
        }
        some
    }

    /// Joins the results of all items to their registers, unless they are the neutral value.
    fn end_folds(&mut self, folds: &[Joining<'t>]) {
        for &Joining { number, at, joined } in folds {
            let part = self.folds[&number];
            self.join_lanes(joined, part, None);
            let neutral = self.constant_of(joined.kind, joined.identity());
            let put = self.w.flag();
            let lane = self.place.lane;
            put!(self.w, "setp.eq.u32 {put}, {lane}, 0");
            let bits = bits(joined.kind);
            put!(
                self.w,
                "setp.ne.and.u{bits} {put}, {part}, {neutral}, {put}"
            );
            if self.tables.held(at.first, joined.kind.words()) == 0 {
                let zero = self.constant_of(Kind::U32, 0);
                self.note(put, zero, 0);
                continue;
            }
            let address = self.address(Address::Register(at.first));
            self.change_at(address, joined, (part, put), false);
        }
    }

    /// Tells the caller which index was out of range, and whether the code raised the loop's flag.
    fn report(&mut self) {
        let Place {
            call,
            missed,
            raised,
            ..
        } = self.place;
        let is_missed = self.w.flag();
        put!(self.w, "setp.ne.u32 {is_missed}, {}, 0", missed[0]);
        let fields = [
            offset_of!(EachCall, misses),
            offset_of!(EachCall, missed),
            offset_of!(EachCall, missed_len),
        ];
        for (word, field) in missed.into_iter().zip(fields) {
            put!(self.w, "@{is_missed} st.u32 [{call}+{field}], {word}");
        }
        let field = offset_of!(EachCall, raised);
        put!(self.w, "@{raised} st.u32 [{call}+{field}], 1");
    }

    /// An address of the caller's arrays.
    fn field(&mut self, field: usize) -> Reg {
        self.address(Address::Field(field))
    }

    fn address(&mut self, of: Address) -> Reg {
        if let Some(known) = self.addresses.get(&of) {
            return *known;
        }
        let address = self.w.pair();
        match of {
            Address::Field(field) => {
                let call = self.place.call;
                self.w
                    .head(format_args!("ld.u64 {address}, [{call}+{field}]"));
            }
            Address::Register(number) => {
                let (field, offset) = self.tables.place_of(number);
                let base = self.field(field);
                self.w
                    .head(format_args!("add.u64 {address}, {base}, {offset}"));
            }
        }
        self.addresses.insert(of, address);
        address
    }
}

impl Machine<SLOTS> for Emitter<'_> {
    type Value = Reg;
    /// The slots that are in around the guard.
    type Guard = Four;

    const SHIFTS_END: bool = true;

    fn now(&mut self) -> &mut Now<Reg, SLOTS> {
        &mut self.now
    }

    fn tables(&self) -> &Tables<'_> {
        self.tables
    }

    fn constant(&mut self, kind: Kind, bits: u64) -> Reg {
        self.constant_of(kind, bits)
    }

    fn reshape(&mut self, value: Reg, from: Shape, to: Shape) -> Reg {
        self.reshaped(value, from, to)
    }

    fn operate(&mut self, op: Op, a: Reg, b: Reg) -> Reg {
        self.operation(op, a, b)
    }

    fn convert(&mut self, op: Op, a: Reg) -> Reg {
        self.converted(op, a)
    }

    fn compare(&mut self, op: Op, a: Reg, b: Reg) -> Reg {
        self.holds(op, a, b)
    }

    fn choose(&mut self, kind: Kind, holds: Reg, both: [Reg; 2]) -> Reg {
        self.chosen_by(kind, holds, both)
    }

    fn check(&mut self, words: Four, len: u64) {
        self.within(words, len);
    }

    fn read(&mut self, kind: Kind, is_latest: bool, register: u32, index: Held) -> Held {
        self.loaded(kind, is_latest, register, index)
    }

    fn write(&mut self, kind: Kind, spot: Spot<Reg, SLOTS>) {
        self.stored(kind, spot);
    }

    fn change(&mut self, joined: Joined, spot: Spot<Reg, SLOTS>, is_asked: bool) -> Held {
        self.changed_to(joined, spot, is_asked)
    }

    fn append(&mut self, registers: [u32; 2], value: Held) {
        self.appended(registers, value);
    }

    fn row(&mut self, op: Op, edges: u32) -> Held {
        self.row_part(op, edges, self.now.hand)
    }

    fn of_edge(&mut self, op: Op) -> Held {
        self.edge_part(op)
    }

    fn only(&mut self, holds: Four) {
        for (active, holds) in self.active.into_iter().zip(holds).take(self.slots) {
            put!(self.w, "and.pred {active}, {active}, {holds}");
        }
    }

    fn until(&mut self, holds: Four) {
        let Some(enough) = self.edge.as_ref().and_then(|edge| edge.enough) else {
            return;
        };
        for slot in 0..self.slots {
            let (now, holds, active) = (self.w.flag(), holds[slot], self.active[slot]);
            put!(self.w, "and.pred {now}, {holds}, {active}");
            put!(self.w, "or.pred {0}, {0}, {now}", enough[slot]);
        }
    }

    fn raise(&mut self) {
        let raised = self.place.raised;
        for active in self.active.into_iter().take(self.slots) {
            put!(self.w, "or.pred {raised}, {raised}, {active}");
        }
    }

    fn join(&mut self, number: usize, joined: Joined, more: Four) -> Option<()> {
        let of_edge = self.edge.as_ref();
        let of_edge = of_edge.and_then(|edge| edge.partial.get(&number));
        let of_items = || self.folds.get(&number).map(|part| [*part; SLOTS]);
        let parts = of_edge.copied().or_else(of_items)?;
        for slot in 0..self.slots {
            let now = self.joined(joined, parts[slot], more[slot]);
            self.replace_if(self.active[slot], joined.kind, parts[slot], now);
        }
        Some(())
    }

    fn begin_guard(&mut self, holds: Four) -> Four {
        let around = self.active;
        self.active = self.inside();
        for slot in 0..self.slots {
            let (inside, holds, active) = (self.active[slot], holds[slot], around[slot]);
            put!(self.w, "and.pred {inside}, {holds}, {active}");
        }
        around
    }

    fn end_guard(&mut self, around: Four) {
        self.active = around;
    }
}
