//! Which loans a reference may hold: rustc's own facts, by a grammar and by polonius-engine.
//!
//! ```text
//! RUSTC_BOOTSTRAP=1 rustc --crate-type lib -Znll-facts -Znll-facts-dir=facts lib.rs
//! cargo run --release -p seawall-modules --example borrow_facts -- facts/*
//! ```
//!
//! For each folder, which has the facts of one function, both find the loans that each origin may
//! contain anywhere in the function: those that it issues, and those of its subsets. That is the
//! location-insensitive analysis of the borrow checker, and as a grammar it has two productions.
//! A line is printed for each of the ten largest functions, and one for all. Exit code 1 and the
//! folder if the answers differ.

use polonius_engine::{Algorithm, AllFacts, Atom, FactTypes, Output};
use seawall_modules::ModuleError;
use seawall_modules::grammar::{Edges, Grammar, Select, reach};
use std::collections::{HashMap, HashSet};
use std::error::Error;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::time::{Duration, Instant};

/// A loan that is issued is in its origin, and so is what is in a subset of it.
const GRAMMAR: &str = "contains issued\ncontains contains subset";

/// Memory for the pairs, bytes.
const BUDGET_BYTES: u64 = 4 << 30;

/// Runs of each program, of which the median is printed.
const RUNS: usize = 5;

/// Functions that have a line of their own.
const SHOWN: usize = 10;

/// The facts of a function that this analysis reads, by numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    /// Origins, with loans that they issue.
    pub(crate) issued: Vec<(usize, usize)>,
    /// Origins, with origins that contain what they contain.
    pub(crate) subsets: Vec<(usize, usize)>,
}

/// A number of any kind of thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Number(usize);

impl From<usize> for Number {
    fn from(number: usize) -> Self {
        Self(number)
    }
}

impl From<Number> for usize {
    fn from(number: Number) -> Self {
        number.0
    }
}

impl Atom for Number {
    fn index(self) -> usize {
        self.0
    }
}

/// Facts of the engine, by numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbers;

impl FactTypes for Numbers {
    type Origin = Number;
    type Loan = Number;
    type Point = Number;
    type Variable = Number;
    type Path = Number;
}

/// (origin, loan) for each loan that an origin may contain, sorted, and the time of the fixpoint.
pub(crate) type Answer = (Vec<(usize, usize)>, Duration);

impl Facts {
    /// Reads `loan_issued_at.facts` and `subset_base.facts` of a folder.
    fn read(folder: &Path) -> Result<Self, Box<dyn Error>> {
        let mut facts = Self::default();
        let (mut origins, mut loans) = (HashMap::new(), HashMap::new());
        each_pair(folder, "loan_issued_at.facts", |origin, loan| {
            let pair = (number(&mut origins, origin), number(&mut loans, loan));
            facts.issued.push(pair);
        })?;
        // The same subset holds at many points.
        let mut subsets = HashSet::new();
        each_pair(folder, "subset_base.facts", |from, to| {
            let pair = (number(&mut origins, from), number(&mut origins, to));
            if subsets.insert(pair) {
                facts.subsets.push(pair);
            }
        })?;
        Ok(facts)
    }

    /// The answer of the grammar.
    ///
    /// # Errors
    /// As for [`reach`].
    pub(crate) fn by_grammar(&self) -> Result<Answer, ModuleError> {
        let grammar = Grammar::read("contains", GRAMMAR)?;
        let mut text = String::new();
        for (origin, loan) in &self.issued {
            text += &format!("l{loan} o{origin} issued\n");
        }
        for (from, to) in &self.subsets {
            text += &format!("o{from} o{to} subset\n");
        }
        let mut edges = Edges::default();
        edges.read(&grammar, "facts", &text)?;
        let start = Instant::now();
        let reached = reach(&grammar, &edges, BUDGET_BYTES)?;
        let time = start.elapsed();
        let select = Select {
            symbol: grammar.start,
            from: None,
            to: None,
        };
        let number = |node: u32| {
            edges.names[node as usize][1..]
                .parse()
                .unwrap_or(usize::MAX)
        };
        let pairs = reached.pairs(select);
        let mut found: Vec<(usize, usize)> = pairs
            .map(|pair| (number(pair.to), number(pair.from)))
            .collect();
        found.sort_unstable();
        Ok((found, time))
    }

    /// The answer of the engine; the time is of a run that does not collect it.
    pub(crate) fn by_engine(&self) -> Answer {
        let point = Number(0);
        let mut facts = AllFacts::<Numbers>::default();
        let issued = self.issued.iter();
        facts.loan_issued_at = issued
            .map(|(origin, loan)| (Number(*origin), Number(*loan), point))
            .collect();
        let subsets = self.subsets.iter();
        facts.subset_base = subsets
            .map(|(from, to)| (Number(*from), Number(*to), point))
            .collect();
        let start = Instant::now();
        let _ = Output::compute(&facts, Algorithm::LocationInsensitive, false);
        let time = start.elapsed();
        let output = Output::compute(&facts, Algorithm::LocationInsensitive, true);
        let mut found = Vec::new();
        for (origin, loans) in &output.origin_contains_loan_anywhere {
            found.extend(loans.iter().map(|loan| (origin.0, loan.0)));
        }
        found.sort_unstable();
        (found, time)
    }
}

/// The number of a name.
fn number(numbers: &mut HashMap<String, usize>, name: &str) -> usize {
    if let Some(number) = numbers.get(name) {
        return *number;
    }
    numbers.insert(name.to_owned(), numbers.len());
    numbers.len() - 1
}

/// Visits the first two columns of each line of a file of facts.
fn each_pair(
    folder: &Path,
    file: &str,
    mut visit: impl FnMut(&str, &str),
) -> Result<(), Box<dyn Error>> {
    let path = folder.join(file);
    let cannot = |error: std::io::Error| format!("cannot read {}: {error}", path.display());
    let mut lines = BufReader::new(File::open(&path).map_err(cannot)?);
    let (mut line, mut number) = (String::new(), 0);
    while lines.read_line(&mut line).map_err(cannot)? > 0 {
        number += 1;
        let mut columns = line.trim_end().split('\t');
        let (Some(one), Some(two)) = (columns.next(), columns.next()) else {
            let message = format!("{}:{number}: fewer than two columns", path.display());
            return Err(message.into());
        };
        visit(one, two);
        line.clear();
    }
    Ok(())
}

/// A measured function.
struct Row {
    name: String,
    facts: usize,
    pairs: usize,
    /// Medians of the grammar and of the engine.
    times: [Duration; 2],
}

fn measure(folder: &Path) -> Result<Row, Box<dyn Error>> {
    let facts = Facts::read(folder)?;
    let mut times = [Vec::new(), Vec::new()];
    let mut pairs = 0;
    for _ in 0..RUNS {
        let (here, there) = (facts.by_grammar()?, facts.by_engine());
        if here.0 != there.0 {
            return Err(format!("{}: the answers differ", folder.display()).into());
        }
        pairs = here.0.len();
        times[0].push(here.1);
        times[1].push(there.1);
    }
    let median = |mut times: Vec<Duration>| {
        times.sort_unstable();
        times[RUNS / 2]
    };
    Ok(Row {
        name: folder
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned(),
        facts: facts.issued.len() + facts.subsets.len(),
        pairs,
        times: times.map(median),
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    let folders: Vec<_> = std::env::args().skip(1).collect();
    if folders.is_empty() {
        return Err("give folders with facts, which `rustc -Znll-facts` writes".into());
    }
    let rows = folders.iter().map(|folder| measure(Path::new(folder)));
    let mut rows = rows.collect::<Result<Vec<_>, _>>()?;
    rows.sort_by_key(|row| std::cmp::Reverse(row.facts));
    let all = Row {
        name: format!("all {}", rows.len()),
        facts: rows.iter().map(|row| row.facts).sum(),
        pairs: rows.iter().map(|row| row.pairs).sum(),
        times: [0, 1].map(|of| rows.iter().map(|row| row.times[of]).sum()),
    };
    println!(
        "{:>10} {:>12} {:>12} {:>12}  function",
        "facts", "pairs", "here us", "engine us"
    );
    for row in rows.iter().take(SHOWN).chain([&all]) {
        let [here, engine] = row.times.map(|time| time.as_secs_f64() * 1e6);
        println!(
            "{:>10} {:>12} {here:>12.1} {engine:>12.1}  {}",
            row.facts, row.pairs, row.name
        );
    }
    Ok(())
}
