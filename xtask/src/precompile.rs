//! `cargo xtask precompile`: machine code of the kernels, so that a first run need not compile
//! them.
//!
//! A driver compiles PTX on the first use of a kernel, which takes up to 17 seconds on a new
//! machine. `host/ptx/precompiled.bin` holds the code of the persistent kernels and of batches for
//! common machines. The library uses the PTX if the file has no code for a machine, was built from
//! other sources, or is refused by the driver. `host/src/backend/cuda/precompiled.rs` describes and
//! reads the file.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::ScopedJoinHandle;

use clap::Args;
use object::read::elf::{ElfFile64, FileHeader};
use object::{Endianness, Object, ObjectSection};

use crate::error::Error;
use crate::ptx::packed;
use crate::ptx::ptxas::Ptxas;
use crate::ptx::targets::{Precompiled, precompiled};
use crate::workspace;
use crate::xz;

const REMEDY: &str = "run `cargo xtask precompile` with NVIDIA's ptxas, and commit host/ptx";

/// First line of the file.
const FORMAT: &str = "seawall precompiled kernels 1";

/// ELF's number for NVIDIA's machines.
const EM_CUDA: u16 = 190;

/// Options of `precompile`.
#[derive(Args)]
pub(crate) struct Options {
    /// Check that the committed file is complete and of the current PTX; needs no assembler.
    #[arg(long)]
    check: bool,
    /// The assembler to use [default: $PTXAS, the search path, /usr/local/cuda].
    #[arg(long, value_name = "FILE")]
    ptxas: Option<PathBuf>,
}

pub(crate) fn run(options: &Options) -> Result<(), Error> {
    let path = workspace::root().join("host/ptx/precompiled.bin");
    if options.check {
        return check(&path);
    }
    let ptxas = Ptxas::find(options.ptxas.as_deref()).ok_or_else(|| Error::Refused {
        what: "no assembler was found",
        findings: Vec::new(),
        remedy: "name NVIDIA's ptxas by --ptxas or $PTXAS",
    })?;
    let mut index = format!("{FORMAT}\n{}\n", packed::sources()?);
    let mut code = Vec::new();
    let wanted = precompiled();
    for (wanted, (packed, plain)) in wanted.iter().zip(pieces(&ptxas, &wanted)?) {
        let line = format!("{} {} {}", line_of(wanted), packed.len(), plain);
        println!("{line}");
        index.push_str(&line);
        index.push('\n');
        code.extend(packed);
    }
    index.push('\n');
    let mut file = index.into_bytes();
    file.extend(code);
    println!("wrote host/ptx/precompiled.bin ({} bytes)", file.len());
    std::fs::write(&path, file).map_err(Error::file("writing", &path))
}

/// Machine code, packed, and its plain length.
type Piece = (Vec<u8>, usize);

/// The pieces in this order, made on all cores.
fn pieces(ptxas: &Ptxas, wanted: &[Precompiled]) -> Result<Vec<Piece>, Error> {
    let texts = packed::texts()?;
    let make = |wanted: &Precompiled| {
        let mut plain = assemble(ptxas, wanted, wanted.text(&texts))?;
        blank_frames(&mut plain);
        Ok((xz::pack(&plain)?, plain.len()))
    };
    let next = AtomicUsize::new(0);
    let take = || {
        let mut made = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(wanted) = wanted.get(at) else {
                return made;
            };
            made.push((at, make(wanted)));
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let mut pieces: Vec<(usize, Result<Piece, Error>)> = std::thread::scope(|scope| {
        let started: Vec<_> = (0..threads).map(|_| scope.spawn(take)).collect();
        let made = started.into_iter().map(ScopedJoinHandle::join);
        made.flat_map(Result::unwrap_or_default).collect()
    });
    pieces.sort_by_key(|(at, _)| *at);
    pieces.into_iter().map(|(_, piece)| piece).collect()
}

/// Machine, kernel and lanes of a block.
fn line_of(wanted: &Precompiled) -> String {
    format!(
        "sm_{} {} {}",
        wanted.capability, wanted.kernel, wanted.lanes
    )
}

fn assemble(ptxas: &Ptxas, wanted: &Precompiled, text: &str) -> Result<Vec<u8>, Error> {
    let text = text.replace(".maxntid 1024,", &format!(".maxntid {},", wanted.lanes));
    let scratch = tempfile::tempdir().map_err(Error::file("making", std::env::temp_dir()))?;
    let (from, to) = (scratch.path().join("ptx"), scratch.path().join("cubin"));
    workspace::write(&from, &text)?;
    let cpu = format!("sm_{}", wanted.capability);
    ptxas.assemble(&from, &to, &cpu, wanted.kernel)?;
    std::fs::read(&to).map_err(Error::file("reading", &to))
}

/// Sections that only debuggers read.
const FRAMES: [&str; 2] = [".debug_frame", ".nv.merc.debug_frame"];

/// Overwrites the sections that only debuggers read with zeros, which take no space once packed:
/// about a twelfth of the file. All other sections keep their places.
fn blank_frames(plain: &mut [u8]) {
    let places: Vec<_> = {
        let Ok(file) = ElfFile64::<Endianness>::parse(&*plain) else {
            return;
        };
        let frames = FRAMES
            .into_iter()
            .filter_map(|name| file.section_by_name(name));
        frames.filter_map(|section| section.file_range()).collect()
    };
    for (start, bytes) in places {
        let place = usize::try_from(start).ok().zip(usize::try_from(bytes).ok());
        let place =
            place.and_then(|(start, bytes)| plain.get_mut(start..start.checked_add(bytes)?));
        place.into_iter().for_each(|place| place.fill(0));
    }
}

/// Checks that every kernel is there, unpacks to machine code, and is of the current sources.
fn check(path: &Path) -> Result<(), Error> {
    let file = std::fs::read(path).map_err(Error::file("reading", path))?;
    let problems = problems(&file, &packed::sources()?);
    if problems.is_empty() {
        println!("host/ptx/precompiled.bin: fresh, {} bytes", file.len());
        return Ok(());
    }
    Err(Error::Stale {
        what: "host/ptx/precompiled.bin is",
        files: problems,
        remedy: REMEDY,
    })
}

fn problems(file: &[u8], sources: &str) -> Vec<String> {
    let Some(end) = file.windows(2).position(|pair| pair == b"\n\n") else {
        return vec!["it has no index".to_owned()];
    };
    let (index, mut code) = (String::from_utf8_lossy(&file[..end]), &file[end + 2..]);
    let mut lines = index.lines();
    let mut found = Vec::new();
    if lines.next() != Some(FORMAT) {
        found.push(format!("it does not begin with {FORMAT:?}"));
    }
    if lines.next() != Some(sources) {
        found.push("built from other sources".to_owned());
    }
    for wanted in precompiled() {
        let line = lines.next().unwrap_or_default();
        match piece(line, &line_of(&wanted), &mut code) {
            Some(plain) if is_code_for(&plain, wanted.capability) => {}
            _ => found.push(format!("{}: missing or damaged", line_of(&wanted))),
        }
    }
    found
}

/// Returns the code that `line` announces, if it is of `wanted`.
fn piece(line: &str, wanted: &str, code: &mut &[u8]) -> Option<Vec<u8>> {
    let (packed, bytes) = line.strip_prefix(wanted)?.trim_start().split_once(' ')?;
    let (piece, rest) = code.split_at_checked(packed.parse().ok()?)?;
    *code = rest;
    let plain = xz::unpack(piece)?;
    (plain.len() == bytes.parse::<usize>().ok()?).then_some(plain)
}

/// Returns whether `plain` is code for machines of that capability, by its ELF flags.
fn is_code_for(plain: &[u8], capability: u32) -> bool {
    let Ok(file) = ElfFile64::<Endianness>::parse(plain) else {
        return false;
    };
    let header = file.elf_header();
    let flags = header.e_flags(Endianness::Little);
    let machine = header.e_machine(Endianness::Little);
    machine == EM_CUDA && (flags & 0xff == capability || (flags >> 8) & 0xff == capability)
}
