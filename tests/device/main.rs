//! The GPU tests, as one program that can be carried to a machine with a GPU.
//!
//! Random graphs and programs run on every GPU executor and are compared with the oracles of
//! `seawall-tests`; faulty programs must end with their fault. It needs only a driver and a
//! device, and it fails without them: a run that tested nothing is not a pass.
//!
//! ```text
//! cargo build --release -p seawall-tests --test device
//! device [--quick] [--seconds N] [--slots N] [--own-ptx FOLDER] [--part NAME]... [--mega]
//! device --load GRAPH...
//! device --stream FILE...
//! ```
//!
//! Without `--part`, all of [`PARTS`] run that the other options allow. `--slots` is the number of
//! slots that the counters of a service have. With `--mega`, drawn cases run on the persistent kernel
//! alone: on a machine whose driver has no kernels in its cache, those of the others and of batches take
//! some two minutes to compile. `--load` prints the times of a service on each graph, on
//! the GPU and on threads, and `--stream` those of streams of a `.swg` file beside a bare upload;
//! both test nothing.
//!
//! `SEED=N` repeats a run from its first case. FOLDER is the output of `cargo xtask build-ptx
//! --crate examples/own-wave`; without it, waves of other crates are skipped with a message.

mod batches;
mod budgets;
mod cancels;
mod cases;
mod devices;
mod evidence;
mod faults;
mod linked;
mod lost;
mod own;
mod planning;
mod service;
mod stale;
mod streams;
mod tally;

use seawall::backend::cuda::{self, Executor};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tally::Tally;

/// Every executor of the CUDA backend with its name.
const EXECUTORS: [(Executor, &str); 3] = [
    (Executor::Mega, "mega"),
    (Executor::Launches, "launches"),
    (Executor::Graph, "graph"),
];

/// The parts of the tests, in their order, with the line that opens each.
const PARTS: [(&str, &str); 11] = [
    ("faults", "faults and cancelled runs"),
    ("own", "waves of other crates"),
    ("plans", "plans, budgets, faults of batches"),
    ("code", "machine code of batches, launches and services"),
    ("service", "a service"),
    ("streams", "streams"),
    ("devices", "several devices"),
    ("ranks", "ranks"),
    ("evidence", "evidence"),
    ("cases", "drawn cases"),
    ("lost", "a lost context"),
];

/// Options of the tests.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// Tiny graphs and small grids, for running under a checker that slows
    /// kernels down a hundredfold.
    quick: bool,
    /// End of drawing cases.
    time: Duration,
    /// Seed of the first case.
    seed: u64,
    /// Whether drawn cases are for the persistent kernel alone.
    mega: bool,
    /// Folder of the PTX of `examples/own-wave`.
    own_ptx: Option<PathBuf>,
    /// Names of the parts to run; empty means all.
    parts: Vec<String>,
    /// Slots that the service's counters have.
    slots: Option<u64>,
    /// Graphs on which a service is measured, instead of all parts.
    loads: Vec<String>,
    /// Files whose streams are measured, instead of all parts.
    streams: Vec<String>,
}

impl Options {
    fn parse(arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let (mut quick, mut mega) = (false, false);
        let mut seconds = None;
        let mut own_ptx = None;
        let mut parts = Vec::new();
        let (mut slots, mut loads, mut streams) = (None, Vec::new(), Vec::new());
        let mut arguments = arguments.peekable();
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--quick" => quick = true,
                "--seconds" => {
                    let value = arguments.next().and_then(|value| value.parse().ok());
                    seconds = Some(value.ok_or("--seconds takes a whole number")?);
                }
                "--slots" => {
                    let value = arguments.next().and_then(|value| value.parse().ok());
                    slots = Some(value.ok_or("--slots takes a whole number")?);
                }
                "--load" => loads.push(arguments.next().ok_or("--load takes a graph")?),
                "--stream" => streams.push(arguments.next().ok_or("--stream takes a file")?),
                "--own-ptx" => {
                    let folder = arguments.next().ok_or("--own-ptx takes a folder")?;
                    own_ptx = Some(PathBuf::from(folder));
                }
                "--mega" => mega = true,
                "--part" => {
                    let name = arguments.next().unwrap_or_default();
                    if !PARTS.iter().any(|part| part.0 == name) {
                        let names = PARTS.map(|part| part.0).join(", ");
                        return Err(format!("--part takes one of {names}"));
                    }
                    parts.push(name);
                }
                other => {
                    return Err(format!(
                        "unknown option {other}; there are --quick, --seconds N, --slots N, \
                         --own-ptx FOLDER, --part NAME, --mega, --load GRAPH and --stream FILE"
                    ));
                }
            }
        }
        Ok(Self {
            quick,
            mega,
            time: Duration::from_secs(seconds.unwrap_or(if quick { 20 } else { 120 })),
            seed: seed()?,
            own_ptx,
            parts,
            slots,
            loads,
            streams,
        })
    }

    /// Whether the part `name` is to run. A checker would report a lost context and slows down the
    /// pairs of the evidence, so quick runs skip both.
    fn wants(&self, name: &str) -> bool {
        let allowed = !(self.quick && matches!(name, "evidence" | "lost"));
        allowed && (self.parts.is_empty() || self.parts.iter().any(|part| part == name))
    }
}

/// The seed of the environment, or a fresh one.
fn seed() -> Result<u64, String> {
    match std::env::var("SEED") {
        Ok(text) => text
            .parse()
            .map_err(|_| format!("SEED={text} is no whole number")),
        Err(_) => {
            let now = SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .unwrap_or_default();
            Ok(now.as_secs())
        }
    }
}

fn main() -> ExitCode {
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(problem) => {
            eprintln!("{problem}");
            return ExitCode::from(2);
        }
    };
    match cuda::probe() {
        Ok(devices) => {
            for device in &devices {
                println!(
                    "device {}: {}, driver CUDA {}",
                    device.ordinal,
                    device.info.name,
                    device.driver_text()
                );
            }
        }
        Err(error) => {
            eprintln!("these tests need a GPU: {error}");
            return ExitCode::FAILURE;
        }
    }
    println!(
        "SEED={}{}",
        options.seed,
        if options.quick { " --quick" } else { "" }
    );
    if !options.loads.is_empty() || !options.streams.is_empty() {
        let loads = options.loads.iter().map(|spec| service::measure(spec));
        let streams = options.streams.iter().map(|file| streams::measure(file));
        return match loads.chain(streams).collect::<Result<(), String>>() {
            Ok(()) => ExitCode::SUCCESS,
            Err(problem) => {
                eprintln!("{problem}");
                ExitCode::FAILURE
            }
        };
    }
    let mut tally = Tally::default();
    // A run that is cut off reports how far it came.
    let started = Instant::now();
    for (name, title) in PARTS {
        if options.wants(name) {
            println!("{:6.1} s  {title}", started.elapsed().as_secs_f64());
            run_part(name, &options, &mut tally);
        }
    }
    tally.print();
    if tally.failed() == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Runs the part `name` of [`PARTS`].
fn run_part(name: &str, options: &Options, tally: &mut Tally) {
    match name {
        "faults" => {
            for (executor, name) in EXECUTORS {
                faults::run(executor, name, options.quick, tally);
                cancels::run(executor, name, options.quick, tally);
            }
            cancels::batches(tally);
        }
        "own" => run_own(options, tally),
        "plans" => {
            stale::run(tally);
            planning::run(options.seed, options.quick, tally);
            budgets::run(options.quick, tally);
            batches::faults(options.quick, tally);
        }
        "code" => linked::run(options.seed, options.quick, tally),
        "service" => service::run(options.seed, options.quick, options.slots, tally),
        "streams" => streams::run(options.seed, options.quick, tally),
        "devices" => devices::run(options.seed, options.quick, tally),
        "ranks" => devices::run_on_ranks(options.seed, options.quick, tally),
        "evidence" => evidence::run(tally),
        "cases" => run_cases(options, tally),
        _ => lost::run(tally),
    }
}

/// Runs waves of another crate, if their PTX is available.
fn run_own(options: &Options, tally: &mut Tally) {
    let Some(folder) = &options.own_ptx else {
        println!("left out waves of other crates: no --own-ptx FOLDER");
        return;
    };
    for (executor, name) in EXECUTORS {
        own::run(executor, name, folder, options.seed, options.quick, tally);
    }
    own::batches(folder, options.seed, tally);
    own::services(folder, options.seed, tally);
}

/// Draws cases, each for all executors, until the time ends.
fn run_cases(options: &Options, tally: &mut Tally) {
    let start = Instant::now();
    let mut seed = options.seed;
    loop {
        for (executor, name) in EXECUTORS {
            if executor == Executor::Mega || !options.mega {
                cases::run(executor, name, seed, options.quick, tally);
            }
        }
        if !options.mega {
            batches::run(seed, options.quick, tally);
        }
        seed = seed.wrapping_add(1);
        if start.elapsed() >= options.time {
            break;
        }
    }
    println!(
        "cases of seeds {} to {}",
        options.seed,
        seed.wrapping_sub(1)
    );
}
