//! `seawall grammar`: reachability in a graph with labels, under a context-free grammar.

use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use clap::Args;
use serde::{Serialize, Serializer};

use super::CliError;
use super::analyze::{content, on_threads};
use super::numbers::{size, thread_count};
use super::output::{json, print, printable};
use super::progress::ProgressLine;
use seawall::graph::did_you_mean;
use seawall::units::{bytes, counted, elapsed_ns};
use seawall_modules::ModuleError;
use seawall_modules::grammar::{Edges, Grammar, Pair, Reach, Select, Symbol, reach, utf8};

const EXAMPLES: &str = "\
Examples:
  seawall grammar alias.cnf program.g
  seawall grammar alias.cnf program.g --symbol flowsTo --from object
  seawall grammar alias.cnf program.g --symbol ~flowsTo --from variable --json
  seawall grammar flows.cnf a.g b.g --from secret --to socket --fail-on flow

A line of a grammar is LEFT, LEFT RIGHT or LEFT RIGHT RIGHT: what the symbol LEFT may consist of.
~a is an edge a backwards. A line of a graph is FROM TO LABEL. Both have comments after #, and
docs/program-analysis.md has grammars for parentheses and aliases. The work runs on CPU threads.

Exit code 1 if a symbol given by --fail-on has a pair.";

/// Find the nodes between which paths spell words of a context-free grammar.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct GrammarArgs {
    /// Grammar of at most 16 symbols; - for standard input.
    #[arg(value_name = "GRAMMAR")]
    grammar: PathBuf,
    /// Edges with labels; nodes of one name are one node across files.
    #[arg(value_name = "EDGES", required = true)]
    edges: Vec<PathBuf>,
    /// Symbol whose pairs are shown, ~S for those of S backwards [default: the start symbol].
    #[arg(long, value_name = "SYMBOL", help_heading = "Questions")]
    symbol: Option<String>,
    /// Only pairs from this node.
    #[arg(long, value_name = "NODE", help_heading = "Questions")]
    from: Option<String>,
    /// Only pairs to this node.
    #[arg(long, value_name = "NODE", help_heading = "Questions")]
    to: Option<String>,
    /// Exit with code 1 if this symbol has a pair, among those of --from and --to if given.
    #[arg(long, value_name = "SYMBOL", help_heading = "Results")]
    fail_on: Vec<String>,
    /// Pairs that the text shows; --json has all of them.
    #[arg(long, default_value_t = 10, value_name = "N", help_heading = "Results")]
    limit: usize,
    /// Show the rounds, the work, the memory and times.
    #[arg(long, help_heading = "Results")]
    explain: bool,
    /// Threads [default: all].
    #[arg(long, value_name = "N", value_parser = thread_count, help_heading = "Machine")]
    threads: Option<NonZeroUsize>,
    /// Bytes that the pairs of all symbols may take; more is refused.
    #[arg(long, default_value = "4GiB", value_name = "SIZE", value_parser = size, help_heading = "Machine")]
    budget: u64,
    /// Print the report as one JSON object.
    #[arg(long, help_heading = "Results")]
    pub(super) json: bool,
    /// Print no report and no progress; --json still prints.
    #[arg(short, long, help_heading = "Results")]
    quiet: bool,
}

fn text(file: &Path) -> Result<String, ModuleError> {
    utf8(&file.to_string_lossy(), content(file)?)
}

fn no_such(role: &'static str, name: &str, problem: &str) -> ModuleError {
    ModuleError::NoSuchName {
        role,
        name: name.to_owned(),
        problem: problem.to_owned(),
    }
}

fn named(grammar: &Grammar, name: &str) -> Result<Symbol, ModuleError> {
    let problem = || {
        let names = grammar.names.join(", ");
        let meant = did_you_mean(name, grammar.names.iter().map(String::as_str));
        no_such("symbol", name, &format!("the grammar has {names}{meant}"))
    };
    grammar.symbol(name).ok_or_else(problem)
}

fn node(edges: &Edges, name: Option<&String>) -> Result<Option<u32>, ModuleError> {
    let number = |name: &String| {
        let number = edges.node(name);
        number.ok_or_else(|| {
            let meant = did_you_mean(name, edges.names.iter().map(AsRef::as_ref));
            let problem = format!("no edge has a node of this name{meant}");
            no_such("node", name, &problem)
        })
    };
    name.map(number).transpose()
}

/// Reads, computes and reports.
pub(super) fn command(args: &GrammarArgs) -> Result<ExitCode, CliError> {
    let line = ProgressLine::new(args.quiet);
    line.say("reading".to_owned());
    let clock = Instant::now();
    let path = args.grammar.to_string_lossy();
    let grammar = Grammar::read(&path, &text(&args.grammar)?)?;
    let mut edges = Edges::default();
    for file in &args.edges {
        edges.read(&grammar, &file.to_string_lossy(), &text(file)?)?;
    }
    let symbol = args.symbol.as_ref();
    let select = Select {
        symbol: symbol.map_or(Ok(grammar.start), |name| named(&grammar, name))?,
        from: node(&edges, args.from.as_ref())?,
        to: node(&edges, args.to.as_ref())?,
    };
    let fails: Result<Vec<Symbol>, _> = args
        .fail_on
        .iter()
        .map(|name| named(&grammar, name))
        .collect();
    let fails = fails?;
    let read_ns = elapsed_ns(clock);
    line.say(format!("joining pairs of {} nodes", edges.names.len()));
    let clock = Instant::now();
    let reach = on_threads(args.threads, || reach(&grammar, &edges, args.budget))?;
    let run_ns = elapsed_ns(clock);
    drop(line);
    let report = Report {
        grammar: &grammar,
        edges: &edges,
        reach: &reach,
        select,
        read_ns,
        run_ns,
    };
    if args.json {
        print(|out| json(&report.object(), out))?;
    } else if !args.quiet {
        print(|out| report.write(out, args))?;
    }
    let has_pair = |symbol: &Symbol| {
        reach.count(Select {
            symbol: *symbol,
            ..select
        }) > 0
    };
    Ok(ExitCode::from(u8::from(fails.iter().any(has_pair))))
}

struct Report<'a> {
    grammar: &'a Grammar,
    edges: &'a Edges,
    reach: &'a Reach,
    select: Select,
    read_ns: u64,
    run_ns: u64,
}

#[derive(Serialize)]
struct Object<'a> {
    productions: usize,
    nodes: usize,
    edges: usize,
    other_edges: u64,
    read_ns: u64,
    run_ns: u64,
    rounds: u64,
    joins: u64,
    bytes: u64,
    symbols: Vec<Count>,
    symbol: String,
    pairs: Pairs<'a>,
}

#[derive(Serialize)]
struct Count {
    symbol: String,
    pairs: u64,
}

/// The selected pairs by their names, one after the other.
struct Pairs<'a>(&'a Report<'a>);

impl Serialize for Pairs<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let pairs = self.0.reach.pairs(self.0.select);
        serializer.collect_seq(pairs.map(|pair| self.0.names(pair)))
    }
}

impl Report<'_> {
    fn names(&self, pair: Pair) -> [&str; 2] {
        [pair.from, pair.to].map(|node| &*self.edges.names[node as usize])
    }

    fn counts(&self) -> Vec<Count> {
        let counted = |symbol| Count {
            symbol: self.grammar.name(symbol),
            pairs: self.reach.count(Select {
                symbol,
                from: None,
                to: None,
            }),
        };
        self.grammar.symbols().map(counted).collect()
    }

    fn object(&self) -> Object<'_> {
        let stats = self.reach.stats;
        Object {
            productions: self.grammar.productions.len(),
            nodes: self.edges.names.len(),
            edges: self.edges.edges.len(),
            other_edges: self.edges.others,
            read_ns: self.read_ns,
            run_ns: self.run_ns,
            rounds: stats.rounds,
            joins: stats.joins,
            bytes: stats.bytes,
            symbols: self.counts(),
            symbol: self.grammar.name(self.select.symbol),
            pairs: Pairs(self),
        }
    }

    fn write(&self, out: &mut dyn Write, args: &GrammarArgs) -> io::Result<()> {
        let (grammar, edges, stats) = (self.grammar, self.edges, self.reach.stats);
        writeln!(
            out,
            "{}, {}; {}, {}",
            counted(grammar.names.len() as u64, "symbol"),
            counted(grammar.productions.len() as u64, "production"),
            counted(edges.names.len() as u64, "node"),
            counted(edges.edges.len() as u64, "edge"),
        )?;
        if let Some(label) = &edges.other {
            let others = counted(edges.others, "more edge");
            let label = printable(label);
            writeln!(
                out,
                "{others} with labels that the grammar lacks, such as {label}"
            )?;
        }
        if args.explain {
            let ms = |ns: u64| ns as f64 / 1e6;
            let (rounds, joins) = (counted(stats.rounds, "round"), counted(stats.joins, "join"));
            let most = bytes(stats.bytes);
            writeln!(out, "{rounds}, {joins}, at most {most}")?;
            let (read, run) = (ms(self.read_ns), ms(self.run_ns));
            writeln!(out, "read in {read:.1} ms, run in {run:.1} ms")?;
        }
        writeln!(out, "pairs of each symbol")?;
        for count in self.counts() {
            writeln!(out, "  {:>10} {}", count.pairs, printable(&count.symbol))?;
        }
        let total = self.reach.count(self.select);
        let symbol = grammar.name(self.select.symbol);
        writeln!(out, "{}: {}", printable(&symbol), counted(total, "pair"))?;
        for pair in self.reach.pairs(self.select).take(args.limit) {
            let [from, to] = self.names(pair);
            writeln!(out, "  {} -> {}", printable(from), printable(to))?;
        }
        match total.saturating_sub(args.limit as u64) {
            0 => Ok(()),
            more => writeln!(out, "  and {more} more (--limit)"),
        }
    }
}
