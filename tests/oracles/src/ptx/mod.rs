//! The PTX that waves of code become, run on simulated lanes.
//!
//! It knows the instructions that `seawall_jit::ptx` writes and no others. Lanes run one after the
//! other until they vote, shuffle or meet at a barrier, which all lanes of a warp or block must reach
//! at the same instruction. Every access to memory is checked: it must lie within an array.

mod waves;

pub use waves::SessionWithPtx;

use std::collections::HashMap;

/// A text, ready to run.
#[derive(Debug)]
pub struct Ptx {
    functions: HashMap<String, Function>,
}

#[derive(Debug, Default)]
struct Function {
    parameters: Vec<String>,
    /// Numbers of words, of pairs and of flags.
    registers: [usize; 3],
    code: Vec<Step>,
    labels: HashMap<String, usize>,
}

#[derive(Debug)]
struct Step {
    guard: Option<(bool, usize)>,
    name: String,
    operands: Vec<Operand>,
}

#[derive(Clone, Debug)]
enum Operand {
    Word(usize),
    Pair(usize),
    Flag(usize),
    Number(u64),
    Name(String),
    /// An address: a register or a name, and an offset.
    At(Box<Operand>, u64),
    Both(Box<[Operand; 2]>),
    List(Vec<String>),
}

/// An array that the lanes may access.
#[derive(Clone, Debug)]
struct Array {
    address: u64,
    words: Vec<u32>,
}

/// Memory of the device.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    arrays: Vec<Array>,
}

impl Memory {
    /// Adds an array; returns its address.
    pub fn add(&mut self, words: &[u32]) -> u64 {
        let address = (self.arrays.len() as u64 + 1) << 36;
        self.arrays.push(Array {
            address,
            words: words.to_vec(),
        });
        address
    }

    /// The words of the array at an address.
    ///
    /// # Panics
    /// Without such an array.
    #[must_use]
    pub fn words(&self, address: u64) -> &[u32] {
        let array = self.arrays.iter().find(|array| array.address == address);
        &array.expect("an array").words
    }

    fn word(&mut self, address: u64) -> Result<&mut u32, String> {
        let array = (address >> 36).checked_sub(1).unwrap_or(u64::MAX) as usize;
        let at = (address & ((1 << 36) - 1)) as usize;
        let word = self.arrays.get_mut(array).filter(|_| at.is_multiple_of(4));
        word.and_then(|array| array.words.get_mut(at / 4))
            .ok_or_else(|| format!("no word at {address:x}"))
    }

    fn load(&mut self, address: u64, is_wide: bool) -> Result<u64, String> {
        if is_wide && !address.is_multiple_of(8) {
            return Err(format!("a pair at {address:x}"));
        }
        let low = u64::from(*self.word(address)?);
        if !is_wide {
            return Ok(low);
        }
        Ok(low | u64::from(*self.word(address + 4)?) << 32)
    }

    fn store(&mut self, address: u64, is_wide: bool, value: u64) -> Result<(), String> {
        self.load(address, is_wide)?;
        *self.word(address)? = value as u32;
        if is_wide {
            *self.word(address + 4)? = (value >> 32) as u32;
        }
        Ok(())
    }
}

/// A call of the function for a wave.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// The number of the wave's first instruction in the table.
    pub first: u32,
    /// Blocks, and lanes of a block.
    pub blocks: u32,
    /// Whole warps.
    pub lanes: u32,
    /// Items that are left out.
    pub before: u32,
    /// Items after those.
    pub items: u32,
    /// Most edges of a row, or 0.
    pub longest_row: u32,
}

impl Ptx {
    /// Reads a text.
    ///
    /// # Errors
    /// An instruction that is not understood.
    pub fn read(text: &str) -> Result<Self, String> {
        let mut functions = HashMap::new();
        for part in text.split(".func ").skip(1) {
            let (head, body) = part.split_once("\n{").ok_or("a function without a body")?;
            let (name, parameters) = head.split_once('(').ok_or("no parameters")?;
            let parameters = parameters.trim_end().trim_end_matches(')').split(',');
            let parameters =
                parameters.filter_map(|one| one.split_whitespace().last().map(str::to_owned));
            let mut function = Function {
                parameters: parameters.collect(),
                ..Function::default()
            };
            let body = body
                .rsplit_once("\n}")
                .ok_or("a function without an end")?
                .0;
            function.read(body)?;
            functions.insert(name.trim().to_owned(), function);
        }
        Ok(Self { functions })
    }

    /// Runs the function `name` for all blocks, one after the other, with the words of an
    /// `EachCall`; returns these words of every lane.
    ///
    /// # Errors
    /// An access outside of arrays, lanes that do not meet, an unknown instruction.
    pub fn run(
        &self,
        name: &str,
        memory: &mut Memory,
        fields: &[u32],
        call: Call,
    ) -> Result<Vec<Vec<u32>>, String> {
        let mut reports = Vec::new();
        for rank in 0..call.blocks {
            let lanes = (0..call.lanes).map(|lane| {
                let record = memory.add(fields);
                let entry = &self.functions[name];
                let arguments = [
                    record,
                    call.first.into(),
                    rank.into(),
                    call.blocks.into(),
                    call.before.into(),
                    call.items.into(),
                    call.longest_row.into(),
                    64,
                ];
                let mut frame = Frame::of(entry);
                for (parameter, value) in entry.parameters.iter().zip(arguments) {
                    frame.parameters.insert(parameter.clone(), value);
                }
                (
                    record,
                    Lane {
                        number: lane,
                        frames: vec![frame],
                        passed: HashMap::new(),
                    },
                )
            });
            let (records, lanes): (Vec<u64>, Vec<Lane>) = lanes.unzip();
            let mut block = Block {
                ptx: self,
                memory,
                shared: vec![0xDEAD_BEEF; 12_288],
                lanes,
                threads: call.lanes,
            };
            block.run()?;
            for record in records {
                reports.push(memory.words(record).to_vec());
            }
            let kept = memory.arrays.len() - call.lanes as usize;
            memory.arrays.truncate(kept);
        }
        Ok(reports)
    }
}

impl Function {
    fn read(&mut self, body: &str) -> Result<(), String> {
        for statement in body.split_inclusive([';', ':']) {
            let is_label = statement.ends_with(':');
            let statement = statement
                .trim_end_matches([';', ':'])
                .trim_start_matches(|letter: char| {
                    letter.is_whitespace() || letter == '{' || letter == '}'
                })
                .trim();
            if is_label {
                self.labels.insert(statement.to_owned(), self.code.len());
            } else if let Some(declared) = statement.strip_prefix(".reg ") {
                self.declare(declared)?;
            } else if !statement.is_empty() && !statement.starts_with(".param") {
                self.code.push(Step::read(statement)?);
            }
        }
        Ok(())
    }
}

impl Function {
    /// Reads a declaration of registers: `.b32 %r<9>`.
    fn declare(&mut self, text: &str) -> Result<(), String> {
        let wrong = || format!("registers {text}");
        let (name, count) = text
            .split_once('%')
            .and_then(|(_, rest)| rest.trim_end_matches('>').split_once('<'))
            .ok_or_else(wrong)?;
        let class = "rdp".find(name).ok_or_else(wrong)?;
        self.registers[class] = count.parse().map_err(|_| wrong())?;
        Ok(())
    }
}

impl Step {
    fn read(statement: &str) -> Result<Self, String> {
        let (guard, rest) = match statement.strip_prefix('@') {
            Some(guarded) => {
                let (flag, rest) = guarded.split_once(' ').ok_or("a guard alone")?;
                let is_not = flag.starts_with('!');
                let number = flag.trim_start_matches('!').trim_start_matches("%p");
                let number = number.parse().map_err(|_| format!("guard {flag}"))?;
                (Some((is_not, number)), rest.trim())
            }
            None => (None, statement),
        };
        let (name, operands) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let mut parts: Vec<String> = Vec::new();
        let mut depth = 0;
        for letter in operands.chars() {
            match letter {
                '{' | '(' | '[' => depth += 1,
                '}' | ')' | ']' => depth -= 1,
                _ => {}
            }
            if letter == ',' && depth == 0 {
                parts.push(String::new());
                continue;
            }
            if parts.is_empty() {
                parts.push(String::new());
            }
            parts.last_mut().expect("pushed").push(letter);
        }
        let operands = parts.iter().map(|part| Operand::read(part.trim()));
        Ok(Self {
            guard,
            name: name.to_owned(),
            operands: operands.collect::<Result<_, _>>()?,
        })
    }
}

impl Operand {
    fn read(text: &str) -> Result<Self, String> {
        let number = |digits: &str| digits.parse().map_err(|_| format!("register {text}"));
        if let Some(digits) = text.strip_prefix("%r").filter(|rest| is_digits(rest)) {
            return Ok(Self::Word(number(digits)?));
        }
        if let Some(digits) = text.strip_prefix("%d").filter(|rest| is_digits(rest)) {
            return Ok(Self::Pair(number(digits)?));
        }
        if let Some(digits) = text.strip_prefix("%p").filter(|rest| is_digits(rest)) {
            return Ok(Self::Flag(number(digits)?));
        }
        if let Some(inside) = text
            .strip_prefix('[')
            .and_then(|text| text.strip_suffix(']'))
        {
            let (base, offset) = inside.split_once('+').unwrap_or((inside, "0"));
            let offset = offset.parse().map_err(|_| format!("offset {text}"))?;
            return Ok(Self::At(Box::new(Self::read(base)?), offset));
        }
        if let Some(inside) = text
            .strip_prefix('{')
            .and_then(|text| text.strip_suffix('}'))
        {
            let (low, high) = inside.split_once(',').ok_or("half a pair")?;
            let both = [Self::read(low.trim())?, Self::read(high.trim())?];
            return Ok(Self::Both(Box::new(both)));
        }
        if let Some(inside) = text
            .strip_prefix('(')
            .and_then(|text| text.strip_suffix(')'))
        {
            let names = inside.split(',').map(|name| name.trim().to_owned());
            return Ok(Self::List(names.collect()));
        }
        if let Some(digits) = text.strip_prefix("0x") {
            let value = u64::from_str_radix(digits, 16);
            return Ok(Self::Number(value.map_err(|_| format!("number {text}"))?));
        }
        Ok(text
            .parse()
            .map_or_else(|_| Self::Name(text.to_owned()), Self::Number))
    }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[derive(Debug)]
struct Frame<'p> {
    function: &'p Function,
    at: usize,
    words: Vec<u32>,
    pairs: Vec<u64>,
    flags: Vec<bool>,
    parameters: HashMap<String, u64>,
}

/// Registers that were never written may have any content.
const UNWRITTEN: (u32, u64, bool) = (0xBAD0_BAD0, 0xBAD0_BAD0_BAD0_BAD0, true);

impl<'p> Frame<'p> {
    fn of(function: &'p Function) -> Self {
        let [words, pairs, flags] = function.registers;
        Self {
            function,
            at: 0,
            words: vec![UNWRITTEN.0; words],
            pairs: vec![UNWRITTEN.1; pairs],
            flags: vec![UNWRITTEN.2; flags],
            parameters: HashMap::new(),
        }
    }
}

#[derive(Debug)]
struct Lane<'p> {
    number: u32,
    frames: Vec<Frame<'p>>,
    /// Arguments of the next call.
    passed: HashMap<String, u64>,
}

/// The state of a lane after it ran.
enum Stop {
    Ended,
    /// Waits at an instruction for the other lanes.
    Meets,
}

struct Block<'p, 'm> {
    ptx: &'p Ptx,
    memory: &'m mut Memory,
    shared: Vec<u32>,
    lanes: Vec<Lane<'p>>,
    threads: u32,
}

impl<'p> Lane<'p> {
    fn frame(&mut self) -> &mut Frame<'p> {
        self.frames.last_mut().expect("a lane that runs")
    }

    fn get(&self, operand: &Operand, threads: u32) -> Result<u64, String> {
        let frame = self.frames.last().ok_or("an ended lane")?;
        Ok(match operand {
            Operand::Word(at) => frame.words[*at].into(),
            Operand::Pair(at) => frame.pairs[*at],
            Operand::Flag(at) => frame.flags[*at].into(),
            Operand::Number(value) => *value,
            Operand::Name(name) => match name.as_str() {
                "%tid.x" => self.number.into(),
                "%ntid.x" => threads.into(),
                "%laneid" => (self.number % 32).into(),
                "%lanemask_lt" => (1_u64 << (self.number % 32)) - 1,
                _ => return Err(format!("name {name}")),
            },
            Operand::Both(both) => {
                let [low, high] = [0, 1].map(|at| self.get(&both[at], threads));
                low? & 0xFFFF_FFFF | high? << 32
            }
            Operand::At(..) | Operand::List(_) => return Err(format!("{operand:?}")),
        })
    }

    fn set(&mut self, operand: &Operand, value: u64) -> Result<(), String> {
        let frame = self.frame();
        match operand {
            Operand::Word(at) => frame.words[*at] = value as u32,
            Operand::Pair(at) => frame.pairs[*at] = value,
            Operand::Flag(at) => frame.flags[*at] = value != 0,
            Operand::Both(both) => {
                self.set(&both[0], value & 0xFFFF_FFFF)?;
                self.set(&both[1], value >> 32)?;
            }
            _ => return Err(format!("not to be written: {operand:?}")),
        }
        Ok(())
    }
}

impl<'p> Block<'p, '_> {
    fn run(&mut self) -> Result<(), String> {
        loop {
            let mut waiting = Vec::new();
            for number in 0..self.lanes.len() {
                match self.run_lane(number)? {
                    Stop::Ended => {}
                    Stop::Meets => waiting.push(number),
                }
            }
            if waiting.is_empty() {
                return Ok(());
            }
            if !self.meet(&waiting)? {
                let at: Vec<_> = waiting.iter().map(|lane| self.place(*lane)).collect();
                return Err(format!("lanes do not meet: {at:?}"));
            }
        }
    }

    fn place(&self, lane: usize) -> &'p Step {
        let frame = self.lanes[lane].frames.last().expect("a lane that waits");
        &frame.function.code[frame.at]
    }

    /// Carries out what lanes wait for, where all are there.
    fn meet(&mut self, waiting: &[usize]) -> Result<bool, String> {
        let mut has_met = false;
        let mut warps: HashMap<usize, Vec<usize>> = HashMap::new();
        for lane in waiting {
            warps.entry(lane / 32).or_default().push(*lane);
        }
        for lanes in warps.values() {
            let step = self.place(lanes[0]);
            let is_whole = lanes.len() == 32 && self.are_at(lanes, step);
            if is_whole && !step.name.starts_with("barrier") {
                self.together(lanes, step)?;
                has_met = true;
            }
        }
        if has_met {
            return Ok(true);
        }
        let step = self.place(waiting[0]);
        let is_whole = waiting.len() == self.lanes.len() && self.are_at(waiting, step);
        if is_whole && step.name.starts_with("barrier") {
            self.together(waiting, step)?;
            return Ok(true);
        }
        Ok(false)
    }

    /// Whether lanes wait at the same instruction.
    fn are_at(&self, lanes: &[usize], step: &Step) -> bool {
        let mut lanes = lanes.iter();
        lanes.all(|lane| std::ptr::eq(self.place(*lane), step))
    }

    /// Carries out a vote, a shuffle or a barrier.
    fn together(&mut self, lanes: &[usize], step: &Step) -> Result<(), String> {
        let threads = self.threads;
        let values = |at: usize| -> Result<Vec<u64>, String> {
            let operand = &step.operands[at];
            lanes
                .iter()
                .map(|lane| self.lanes[*lane].get(operand, threads))
                .collect()
        };
        let results: Vec<Option<u64>> = match step.name.as_str() {
            "barrier.sync.aligned" | "bar.warp.sync" => vec![None; lanes.len()],
            "barrier.red.or.aligned.pred" => {
                let any = values(2)?.iter().any(|value| *value != 0);
                vec![Some(any.into()); lanes.len()]
            }
            "vote.sync.any.pred" => {
                let any = values(1)?.iter().any(|value| *value != 0);
                vec![Some(any.into()); lanes.len()]
            }
            "vote.sync.ballot.b32" => {
                let votes = values(1)?;
                let bits = votes.iter().enumerate();
                let bits = bits.fold(0, |all, (at, vote)| all | u64::from(*vote != 0) << at);
                vec![Some(bits); lanes.len()]
            }
            "shfl.sync.bfly.b32" => {
                let (own, by) = (values(1)?, values(2)?);
                (0..32).map(|at| Some(own[at ^ by[at] as usize])).collect()
            }
            "shfl.sync.idx.b32" => {
                let (own, from) = (values(1)?, values(2)?);
                (0..32)
                    .map(|at| Some(own[from[at] as usize & 31]))
                    .collect()
            }
            name => return Err(format!("instruction {name}")),
        };
        for (lane, result) in lanes.iter().zip(results) {
            if let Some(result) = result {
                self.lanes[*lane].set(&step.operands[0], result)?;
            }
            self.lanes[*lane].frame().at += 1;
        }
        Ok(())
    }

    fn run_lane(&mut self, number: usize) -> Result<Stop, String> {
        for _ in 0..10_000_000 {
            let lane = &mut self.lanes[number];
            let Some(frame) = lane.frames.last() else {
                return Ok(Stop::Ended);
            };
            let function = frame.function;
            let Some(step) = function.code.get(frame.at) else {
                return Err("the end of a function without a return".to_owned());
            };
            let is_collective = ["vote", "shfl", "bar"]
                .iter()
                .any(|name| step.name.starts_with(name));
            if is_collective {
                return Ok(Stop::Meets);
            }
            let holds = step
                .guard
                .is_none_or(|(is_not, flag)| frame.flags[flag] != is_not);
            lane.frame().at += 1;
            if holds {
                self.step(number, step, function)
                    .map_err(|error| format!("{error} in {step:?}"))?;
            }
        }
        Err("a lane that does not end".to_owned())
    }

    fn step(&mut self, number: usize, step: &Step, function: &Function) -> Result<(), String> {
        let lane = &mut self.lanes[number];
        match step.name.as_str() {
            "ret" => drop(lane.frames.pop()),
            "bra" => {
                let Some(Operand::Name(label)) = step.operands.first() else {
                    return Err("no label".to_owned());
                };
                lane.frame().at = *function.labels.get(label).ok_or("an unknown label")?;
            }
            "call.uni" => {
                let [Operand::Name(name), Operand::List(names)] = &step.operands[..] else {
                    return Err("no function".to_owned());
                };
                let called = self.ptx.functions.get(name).ok_or("an unknown function")?;
                let mut frame = Frame::of(called);
                for (parameter, passed) in called.parameters.iter().zip(names) {
                    frame
                        .parameters
                        .insert(parameter.clone(), lane.passed[passed]);
                }
                lane.frames.push(frame);
            }
            name if name.starts_with("ld.") || name.starts_with("st.") => {
                return self.access(number, step);
            }
            name if name.starts_with("atom.") || name.starts_with("red.") => {
                return self.change(number, step);
            }
            _ => {
                let operands = step.operands[1..].iter();
                let values = operands.map(|operand| lane.get(operand, self.threads));
                let values = values.collect::<Result<Vec<_>, _>>()?;
                let value = made(&step.name, &values, &step.operands)?;
                lane.set(&step.operands[0], value)?;
            }
        }
        Ok(())
    }

    fn address(&self, number: usize, operand: &Operand) -> Result<u64, String> {
        let Operand::At(base, offset) = operand else {
            return Err("no address".to_owned());
        };
        Ok(self.lanes[number]
            .get(base, self.threads)?
            .wrapping_add(*offset))
    }

    fn access(&mut self, number: usize, step: &Step) -> Result<(), String> {
        let is_load = step.name.starts_with("ld.");
        let (place, value) = if is_load {
            (&step.operands[1], &step.operands[0])
        } else {
            (&step.operands[0], &step.operands[1])
        };
        let is_wide = step.name.ends_with("64");
        if step.name.contains(".param.") {
            let Operand::At(name, _) = place else {
                return Err("no parameter".to_owned());
            };
            let Operand::Name(name) = &**name else {
                return Err("no parameter".to_owned());
            };
            let lane = &mut self.lanes[number];
            if is_load {
                let found = lane.frame().parameters.get(name).copied();
                return lane.set(value, found.ok_or("an unknown parameter")?);
            }
            let value = lane.get(value, self.threads)?;
            lane.passed.insert(name.clone(), value);
            return Ok(());
        }
        let address = self.address(number, place)?;
        if step.name.contains(".shared.") {
            let at = (address / 4) as usize;
            if !address.is_multiple_of(if is_wide { 8 } else { 4 }) || at + 1 >= self.shared.len() {
                return Err(format!("no shared word at {address}"));
            }
            if is_load {
                let high = if is_wide { self.shared[at + 1] } else { 0 };
                let found = u64::from(self.shared[at]) | u64::from(high) << 32;
                return self.lanes[number].set(value, found);
            }
            let value = self.lanes[number].get(value, self.threads)?;
            self.shared[at] = value as u32;
            if is_wide {
                self.shared[at + 1] = (value >> 32) as u32;
            }
            return Ok(());
        }
        if is_load {
            let found = self.memory.load(address, is_wide)?;
            return self.lanes[number].set(value, found);
        }
        let value = self.lanes[number].get(value, self.threads)?;
        self.memory.store(address, is_wide, value)
    }

    fn change(&mut self, number: usize, step: &Step) -> Result<(), String> {
        let is_asked = step.name.starts_with("atom.");
        let first = usize::from(is_asked);
        let address = self.address(number, &step.operands[first])?;
        let value = |at: usize| self.lanes[number].get(&step.operands[first + at], self.threads);
        let is_wide = step.name.ends_with("64");
        let value_1 = value(1)?;
        let value_2 = if step.name.contains(".cas.") {
            value(2)?
        } else {
            0
        };
        let before = self.memory.load(address, is_wide)?;
        let how = step.name.rsplit("global.").next().unwrap_or_default();
        let after = match how {
            "cas.b32" if before == value_1 => value_2,
            "cas.b32" => before,
            _ => {
                let name = match how.split_once('.') {
                    Some(("min" | "max" | "add" | "or" | "and", _)) => how,
                    _ => return Err(format!("change {how}")),
                };
                made(name, &[before, value_1], &[Operand::Pair(0)])?
            }
        };
        let after = if is_wide { after } else { after & 0xFFFF_FFFF };
        self.memory.store(address, is_wide, after)?;
        if is_asked {
            self.lanes[number].set(&step.operands[0], before)?;
        }
        Ok(())
    }
}

/// The value that an instruction makes of others.
fn made(name: &str, values: &[u64], operands: &[Operand]) -> Result<u64, String> {
    let value = |at: usize| values.get(at).copied().unwrap_or(0);
    let (a, b) = (value(0), value(1));
    let (low, other) = (a as u32, b as u32);
    let (x, y) = (f32::from_bits(low), f32::from_bits(other));
    let bits = |float: f32| u64::from(float.to_bits());
    if let Some(compared) = name.strip_prefix("setp.") {
        let mut parts = compared.split('.');
        let order = parts.next().unwrap_or_default();
        let rest: Vec<&str> = parts.collect();
        let kind = *rest.last().ok_or("no type")?;
        let holds = compared_values(order, kind, a, b)?;
        return Ok(u64::from(match rest.first() {
            Some(&"and") => holds && value(2) != 0,
            Some(&"or") => holds || value(2) != 0,
            _ => holds,
        }));
    }
    Ok(match name {
        "mov.b32" | "mov.u32" | "mov.b64" | "mov.pred" => a,
        "add.u32" => low.wrapping_add(other).into(),
        "sub.u32" => low.wrapping_sub(other).into(),
        "mul.lo.u32" => low.wrapping_mul(other).into(),
        "mad.lo.u32" => low.wrapping_mul(other).wrapping_add(value(2) as u32).into(),
        "mad.wide.u32" => (u64::from(low) * u64::from(other)).wrapping_add(value(2)),
        "div.u32" => low.checked_div(other).unwrap_or(0xBAD0_BAD0).into(),
        "rem.u32" => low.checked_rem(other).unwrap_or(0xBAD0_BAD0).into(),
        "min.u32" => low.min(other).into(),
        "max.u32" => low.max(other).into(),
        "min.s32" => ((low as i32).min(other as i32) as u32).into(),
        "max.s32" => ((low as i32).max(other as i32) as u32).into(),
        "and.b32" | "and.b64" => a & b,
        "or.b32" | "or.b64" => a | b,
        "xor.b32" | "xor.b64" => a ^ b,
        "and.pred" => u64::from(a != 0 && b != 0),
        "or.pred" => u64::from(a != 0 || b != 0),
        "not.pred" => u64::from(a == 0),
        "shl.b32" => low.checked_shl(other).unwrap_or(0).into(),
        "shr.u32" => low.checked_shr(other).unwrap_or(0).into(),
        "shr.s32" => (((low as i32) >> other.min(31)) as u32).into(),
        "shl.b64" => a.checked_shl(other).unwrap_or(0),
        "shr.u64" => a.checked_shr(other).unwrap_or(0),
        "add.u64" => a.wrapping_add(b),
        "sub.u64" => a.wrapping_sub(b),
        "mul.lo.u64" => a.wrapping_mul(b),
        "min.u64" => a.min(b),
        "max.u64" => a.max(b),
        "add.rn.f32" => bits(x + y),
        "sub.rn.f32" => bits(x - y),
        "mul.rn.f32" => bits(x * y),
        "div.rn.f32" => bits(x / y),
        "popc.b32" => low.count_ones().into(),
        "popc.b64" => a.count_ones().into(),
        "brev.b32" => low.reverse_bits().into(),
        "brev.b64" => a.reverse_bits(),
        "clz.b32" => low.leading_zeros().into(),
        "clz.b64" => a.leading_zeros().into(),
        "selp.b32" | "selp.b64" => {
            if value(2) != 0 {
                a
            } else {
                b
            }
        }
        "cvt.u64.u32" | "cvt.u32.u64" => a & 0xFFFF_FFFF,
        "cvt.rn.f32.u32" => bits(low as f32),
        "cvt.rn.f32.s32" => bits(low as i32 as f32),
        "cvt.rn.f32.u64" => bits(a as f32),
        "cvt.rzi.u32.f32" => u64::from(x as u32),
        "cvt.rzi.s32.f32" => u64::from(x as i32 as u32),
        // A GPU gives this for what is no number.
        "cvt.rzi.u64.f32" if x.is_nan() => 1 << 63,
        "cvt.rzi.u64.f32" => x as u64,
        _ => return Err(format!("instruction {name} of {operands:?}")),
    })
}

fn compared_values(order: &str, kind: &str, a: u64, b: u64) -> Result<bool, String> {
    use std::cmp::Ordering;
    let (low, other) = (a as u32, b as u32);
    let found = match kind {
        "u32" => Some(low.cmp(&other)),
        "s32" => Some((low as i32).cmp(&(other as i32))),
        "u64" => Some(a.cmp(&b)),
        "f32" => f32::from_bits(low).partial_cmp(&f32::from_bits(other)),
        _ => return Err(format!("type {kind}")),
    };
    Ok(match order {
        "eq" => found == Some(Ordering::Equal),
        "ne" => found.is_some_and(|found| found != Ordering::Equal),
        "neu" => found != Some(Ordering::Equal),
        "lt" => found == Some(Ordering::Less),
        "le" => matches!(found, Some(Ordering::Less | Ordering::Equal)),
        "gt" => found == Some(Ordering::Greater),
        "ge" => matches!(found, Some(Ordering::Greater | Ordering::Equal)),
        "nan" => found.is_none(),
        _ => return Err(format!("order {order}")),
    })
}
