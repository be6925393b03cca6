//! Running an image in QEMU with a time limit.
//!
//! The image sends defmt's frames to standard output and text to standard
//! error; both go to files, so that neither can fill a pipe while the other is
//! waited for.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::error::Error;
use crate::process;

/// The machine, with one instruction per nanosecond of its clock.
const MACHINE: [&str; 7] = [
    "-machine",
    "netduinoplus2",
    "-nographic",
    "-icount",
    "shift=0",
    "-semihosting-config",
    "enable=on,target=native",
];
/// Far above the second that the example takes.
const LIMIT: Duration = Duration::from_secs(120);

pub(super) struct Output {
    /// defmt's frames.
    pub(super) frames: Vec<u8>,
    pub(super) text: String,
}

/// QEMU's name and version.
pub(super) fn version() -> Result<String, Error> {
    let text = process::capture(Command::new(program()).arg("--version"))?;
    let line = text.lines().next().unwrap_or_default();
    let short = line.split(" (").next().unwrap_or_default();
    Ok(format!("{short}, machine {}", MACHINE[1]))
}

pub(super) fn run(image: &Path) -> Result<Output, Error> {
    let (frames, text) = (image.with_extension("defmt"), image.with_extension("txt"));
    let mut command = Command::new(program());
    command
        .args(MACHINE)
        .arg("-kernel")
        .arg(image)
        .stdin(Stdio::null());
    command.stdout(create(&frames)?).stderr(create(&text)?);
    let child = command.spawn().map_err(|source| Error::Start {
        program: program(),
        source,
    })?;
    let status = wait(child)?;
    let output = Output {
        frames: fs::read(&frames).map_err(Error::file("reading", &frames))?,
        text: fs::read_to_string(&text).map_err(Error::file("reading", &text))?,
    };
    if status.success() {
        return Ok(output);
    }
    Err(Error::Failed {
        program: program(),
        status: status.to_string(),
        output: output.text,
    })
}

fn wait(mut child: Child) -> Result<ExitStatus, Error> {
    let start = Instant::now();
    loop {
        if let Some(status) = child
            .try_wait()
            .map_err(Error::file("waiting for", "qemu"))?
        {
            return Ok(status);
        }
        if start.elapsed() > LIMIT {
            child.kill().map_err(Error::file("stopping", "qemu"))?;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The emulator; `SEAWALL_QEMU` names another.
fn program() -> String {
    std::env::var("SEAWALL_QEMU").unwrap_or_else(|_| "qemu-system-arm".to_owned())
}

fn create(path: &Path) -> Result<File, Error> {
    File::create(path).map_err(Error::file("creating", path))
}
