//! `cargo xtask fuzz`: hostile input for every parser and planner.
//!
//! Builds the targets of `fuzz/` with coverage counters by flags that stable
//! compilers take, and runs them on their committed seeds and on the corpus of earlier
//! runs, as many at a time as there are cores. `cargo fuzz` runs the same targets; this
//! command needs nothing installed but a C++ compiler, for libFuzzer.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use clap::Args;

use crate::error::{Error, refuse_any};
use crate::process;
use crate::workspace;

/// Options of `fuzz`.
#[derive(Args)]
pub(crate) struct Options {
    /// Targets to run; all when none is named.
    targets: Vec<String>,
    /// Seconds that each target runs.
    #[arg(long, default_value_t = 60)]
    seconds: u32,
    /// Seed of the search, for a run that finds the same again; drawn when absent.
    #[arg(long)]
    seed: Option<u32>,
    /// Build the targets and say where they are.
    #[arg(long)]
    build_only: bool,
    /// Build without assertions and overflow checks, as users have the code.
    #[arg(long)]
    shipped: bool,
}

impl Options {
    /// The profile of `fuzz/Cargo.toml`, and its folder.
    fn profile(&self) -> &'static str {
        if self.shipped { "shipped" } else { "release" }
    }
}

/// Flags with which a compiler leaves counters for libFuzzer: edges, their places,
/// and the operands of comparisons.
const FLAGS: [&str; 6] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "--cfg=fuzzing",
];

/// Resident memory that no target needs. Single requests are bounded in `fuzz/src/limit.rs`.
const MEMORY_MIB: u32 = 1024;
/// Seconds that no input may take.
const PATIENCE_SECONDS: u32 = 20;

pub(crate) fn run(options: &Options) -> Result<(), Error> {
    let known = targets()?;
    let unknown = options.targets.iter().filter(|name| !known.contains(name));
    let unknown: Vec<String> = unknown.cloned().collect();
    refuse_any(
        "fuzz targets that do not exist",
        unknown,
        "the targets are the folders of fuzz/seeds",
    )?;
    // Naming the host keeps build scripts free of counters.
    let host = process::host()?;
    build(&host, options)?;
    let binaries = target_folder().join(&host).join(options.profile());
    println!("targets: {}", binaries.display());
    if options.build_only {
        return Ok(());
    }
    let wanted = |name: &&String| options.targets.is_empty() || options.targets.contains(name);
    let wanted = Mutex::new(known.iter().filter(wanted));
    let next = || wanted.lock().ok()?.next();
    let search_all = || {
        while let Some(name) = next() {
            let figures = search(&binaries.join(name), name, options)?;
            print!("{name}: {} s\n{figures}", options.seconds);
        }
        Ok(())
    };
    let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    std::thread::scope(|scope| -> Result<(), Error> {
        let threads: Vec<_> = (0..cores).map(|_| scope.spawn(search_all)).collect();
        threads.into_iter().try_for_each(|thread| {
            let ended = thread.join();
            ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    })?;
    println!("no finding");
    Ok(())
}

fn folder() -> PathBuf {
    workspace::root().join("fuzz")
}

fn target_folder() -> PathBuf {
    workspace::target("fuzz")
}

/// Every target has a folder of seeds under its name.
fn targets() -> Result<Vec<String>, Error> {
    let seeds = folder().join("seeds");
    let mut names: Vec<String> = workspace::files_below(&seeds)?
        .iter()
        .filter_map(|file| file.strip_prefix(&seeds).ok()?.iter().next()?.to_str())
        .map(str::to_owned)
        .collect();
    names.sort_unstable();
    names.dedup();
    Ok(names)
}

fn build(host: &str, options: &Options) -> Result<(), Error> {
    // Not `--locked`: the lock file keeps its versions, and gains the host crate's additions.
    let mut cargo = Command::new("cargo");
    cargo
        .current_dir(folder())
        .args(["build", "--quiet", "--profile", options.profile()])
        .args(["--target", host])
        .args(options.targets.iter().flat_map(|name| ["--bin", name]))
        .arg("--target-dir")
        .arg(target_folder())
        .env("CARGO_ENCODED_RUSTFLAGS", FLAGS.join("\u{1f}"))
        // Only this command's own flags count.
        .env_remove("RUSTFLAGS");
    process::show(&mut cargo)
}

/// Runs a target and returns its last figures.
fn search(binary: &Path, name: &str, options: &Options) -> Result<String, Error> {
    let corpus = folder().join("corpus").join(name);
    let artifacts = folder().join("artifacts").join(name);
    workspace::create_folder(&corpus)?;
    workspace::create_folder(&artifacts)?;
    let mut fuzzer = Command::new(binary);
    fuzzer
        .arg(format!("-max_total_time={}", options.seconds))
        // libFuzzer draws a seed for 0.
        .arg(format!("-seed={}", options.seed.unwrap_or(0)))
        .arg(format!("-rss_limit_mb={MEMORY_MIB}"))
        .arg(format!("-timeout={PATIENCE_SECONDS}"))
        .arg(format!("-artifact_prefix={}/", artifacts.display()))
        .arg("-print_final_stats=1")
        .arg(corpus)
        .arg(folder().join("seeds").join(name));
    // libFuzzer reports its progress on standard error; of a good run the last figures are enough.
    let output = fuzzer.output().map_err(|source| Error::Start {
        program: binary.display().to_string(),
        source,
    })?;
    let text = String::from_utf8_lossy(&output.stderr);
    if output.status.success() {
        let figures = text.lines().filter(|line| line.starts_with("stat::"));
        return Ok(figures.map(|line| format!("  {line}\n")).collect());
    }
    Err(Error::Failed {
        program: binary.display().to_string(),
        status: output.status.to_string(),
        output: tail(&text, 60),
    })
}

fn tail(text: &str, lines: usize) -> String {
    let all: Vec<&str> = text.lines().collect();
    all[all.len().saturating_sub(lines)..].join("\n")
}
