//! Time that reading modules takes, beside wasmparser's validation alone.
//!
//! ```text
//! cargo run --release -p seawall-modules --example read_module -- module.wasm..
//! ```
//!
//! Times are processor time of one thread, the system's share included, and in the last line wall
//! time of all threads. The first run of a process takes fresh memory from the system, as a program
//! that reads one module does; then comes the median of all runs.

#[cfg(unix)]
use rustix::time::{ClockId, clock_gettime};
use seawall_modules::model::Program;
use std::error::Error;
use std::sync::LazyLock;
use std::time::{Duration, Instant};
use wasmparser::{FuncValidatorAllocations, Parser, ValidPayload, Validator, WasmFeatures};

/// Runs of each kind.
const RUNS: usize = 15;

/// Processor time of this thread.
#[cfg(unix)]
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Wall time, where the system has no such clock.
#[cfg(not(unix))]
fn processor_time() -> Duration {
    wall_time()
}

/// Time since the first call.
fn wall_time() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed()
}

/// Validates a module, function by function, with the same features as the reader.
fn validate(bytes: &[u8]) -> Result<(), wasmparser::Error> {
    let features = WasmFeatures::default() | WasmFeatures::LEGACY_EXCEPTIONS;
    let mut validator = Validator::new_with_features(features);
    let mut bodies = Vec::new();
    for payload in Parser::new(0).parse_all(bytes) {
        if let ValidPayload::Func(function, body) = validator.payload(&payload?)? {
            bodies.push((function, body));
        }
    }
    let mut memory = FuncValidatorAllocations::default();
    for (function, body) in bodies {
        let mut validator = function.into_validator(memory);
        validator.validate(&body)?;
        memory = validator.into_allocations();
    }
    Ok(())
}

type Failure = Box<dyn Error + Send + Sync>;

/// Prints the times of a job on the bytes of a module. Dropping what it returns is not timed.
fn time<T>(
    what: &str,
    clock: fn() -> Duration,
    bytes: &[u8],
    job: impl Fn(Vec<u8>) -> Result<T, Failure>,
) -> Result<(), Failure> {
    let mut times = Vec::new();
    for _ in 0..RUNS {
        let bytes = bytes.to_vec();
        let start = clock();
        let made = job(bytes)?;
        times.push(clock() - start);
        drop(made);
    }
    let first = times[0];
    times.sort_unstable();
    let show = |time: Duration| {
        let rate = bytes.len() as f64 / 1e6 / time.as_secs_f64();
        format!("{:7.1} ms, {rate:5.0} MB/s", time.as_secs_f64() * 1e3)
    };
    let median = times[RUNS / 2];
    println!("  {what:22} first {}; median {}", show(first), show(median));
    Ok(())
}

fn read(bytes: Vec<u8>) -> Result<Program, Failure> {
    let mut program = Program::default();
    seawall_modules::read(&mut program, "module", bytes)?;
    Ok(program)
}

fn main() -> Result<(), Failure> {
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    for path in std::env::args().skip(1) {
        let bytes = std::fs::read(&path)?;
        println!("{path}: {:.2} MB", bytes.len() as f64 / 1e6);
        one.install(|| {
            time("read", processor_time, &bytes, read)?;
            time("validate", processor_time, &bytes, |bytes| {
                Ok(validate(&bytes)?)
            })
        })?;
        time("read on all threads", wall_time, &bytes, read)?;
    }
    Ok(())
}
