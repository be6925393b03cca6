//! Machine code: its length, and spills in its loops.
//!
//! The assembler says how many bytes a function spills, but not where. NVIDIA's
//! `nvdisasm` marks each instruction that does, so that those within hot loops can be
//! counted. A hot loop is an innermost one that accesses memory of the device and calls
//! nothing: a loop with calls walks tables and runs once per wave.
//!
//! A loop lies between a label and a jump back to it; cold blocks that the assembler laid
//! in between count too. The code that gathers a diverged warp for a vote or a shuffle
//! lies after the function and jumps back as well, but is no loop.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use object::{Object, ObjectSection};

use crate::error::Error;

/// The disassembler's mark after an instruction that spills or refills.
const MARK: &str = "SpillRefill";

pub(crate) struct Disassembler {
    program: PathBuf,
}

impl Disassembler {
    /// Returns the named one, else `NVDISASM`, else the one on the search path or in CUDA's usual
    /// folder.
    pub(crate) fn find(named: Option<&Path>) -> Option<Self> {
        let named = named.map(Path::to_path_buf);
        let candidates = [
            named.or_else(|| std::env::var_os("NVDISASM").map(PathBuf::from)),
            Some("nvdisasm".into()),
            Some("/usr/local/cuda/bin/nvdisasm".into()),
        ];
        let answers = |program: &PathBuf| {
            let mut command = Command::new(program);
            command.arg("--version").stderr(Stdio::null());
            command.output().is_ok_and(|output| output.status.success())
        };
        let program = candidates.into_iter().flatten().find(answers)?;
        Some(Self { program })
    }

    /// Instructions within innermost loops that spill or refill, by function;
    /// of a function in several kernels the copy with most. `None` when this
    /// release no longer knows the machine, or is too old to mark them.
    pub(crate) fn loop_spills(&self, cubin: &Path) -> Result<Option<BTreeMap<String, u32>>, Error> {
        let mut command = Command::new(&self.program);
        let output = command
            .arg("-c")
            .arg(cubin)
            .output()
            .map_err(|source| Error::Start {
                program: self.program.display().to_string(),
                source,
            })?;
        let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
        if !output.status.success() {
            if complaint.contains("architecture") {
                return Ok(None);
            }
            return Err(Error::Failed {
                program: format!("nvdisasm -c {}", cubin.display()),
                status: output.status.to_string(),
                output: complaint,
            });
        }
        let listing = String::from_utf8_lossy(&output.stdout);
        Ok(listing.contains(MARK).then(|| count(&listing)))
    }
}

pub(crate) fn code_bytes(cubin: &Path) -> Result<Vec<(String, u32)>, Error> {
    let image = std::fs::read(cubin).map_err(Error::file("reading", cubin))?;
    let file = object::File::parse(&*image)
        .map_err(|error| Error::output("ptxas", format!("its output is no ELF file: {error}")))?;
    let kernel = |section: object::Section<'_, '_>| {
        let name = section.name().ok()?.strip_prefix(".text.")?.to_owned();
        Some((name, u32::try_from(section.size()).unwrap_or(u32::MAX)))
    };
    Ok(file.sections().filter_map(kernel).collect())
}

fn count(listing: &str) -> BTreeMap<String, u32> {
    let mut found: BTreeMap<String, u32> = BTreeMap::new();
    let mut rest = listing.split(".type").skip(1);
    for part in &mut rest {
        let Some((name, body)) = part.split_once(",@function") else {
            continue;
        };
        // A function that a kernel calls is named after the kernel too.
        let name = name.trim().rsplit('$').next().unwrap_or_default();
        let lines: Vec<&str> = body.lines().collect();
        let count = spills_in_loops(&lines);
        let most = found.entry(name.to_owned()).or_default();
        *most = count.max(*most);
    }
    found
}

fn spills_in_loops(lines: &[&str]) -> u32 {
    let loops = loops(lines);
    let encloses = |outer: &(usize, usize), inner: &(usize, usize)| {
        outer != inner && outer.0 <= inner.0 && inner.1 <= outer.1
    };
    let innermost = loops
        .iter()
        .filter(|range| !loops.iter().any(|other| encloses(range, other)))
        .filter(|&&(from, to)| is_hot(lines.get(from..=to).unwrap_or_default()));
    let inside: BTreeSet<usize> = innermost.flat_map(|&(from, to)| from..=to).collect();
    let spills = |at: &&usize| lines.get(**at).is_some_and(|line| line.contains(MARK));
    u32::try_from(inside.iter().filter(spills).count()).unwrap_or(u32::MAX)
}

/// Returns whether a loop accesses device memory and calls nothing.
fn is_hot(lines: &[&str]) -> bool {
    let any = |names: &[&str]| {
        let has = |line: &&str| names.iter().any(|name| line.contains(name));
        lines.iter().any(has)
    };
    any(&["LDG.", "STG.", "ATOMG.", "REDG."]) && !any(&["CALL."])
}

/// Instructions that gather a diverged warp in a block that jumps back.
const GATHERS: &str = "WARPSYNC.COLLECTIVE";

/// Line ranges from a label to the last jump back to it.
fn loops(lines: &[&str]) -> BTreeSet<(usize, usize)> {
    let labels: HashMap<&str, usize> = (0..)
        .zip(lines)
        .filter_map(|(at, line)| Some((line.trim().strip_suffix(':')?, at)))
        .collect();
    let mut ends: HashMap<usize, usize> = HashMap::new();
    let mut gathers = false;
    for (at, line) in lines.iter().enumerate() {
        gathers |= line.contains(GATHERS);
        let jump = line.split_once("BRA").and_then(|(_, to)| target(to));
        if let Some(&start) = jump.and_then(|label| labels.get(label))
            && start <= at
            && !gathers
        {
            ends.insert(start, at);
        }
        gathers &= !leaves(line);
    }
    ends.into_iter().collect()
}

/// Returns whether `line` is a jump or an exit of all lanes.
fn leaves(line: &str) -> bool {
    let instruction = line.split_once("*/").map_or("", |(_, rest)| rest.trim());
    ["BRA", "RET", "EXIT"]
        .iter()
        .any(|name| instruction.starts_with(name))
}

/// The label in "`(LABEL)".
fn target(text: &str) -> Option<&str> {
    text.split_once("`(")?.1.split(')').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTING: &str = "\
\t.type           walk,@function
walk:
.text.walk:
        /*0000*/  STL [R1], R2  (*\"SpillRefill\"*);
.L_x_1:
        /*0010*/  LDL R2, [R1]  (*\"SpillRefill\"*);
.L_x_2:
        /*0020*/  IADD3 R3, R3, 0x1, RZ ;
        /*0030*/  @P0 BRA `(.L_x_2) ;
        /*0040*/  @P1 BRA `(.L_x_1) ;
        /*0050*/  @P2 BRA `(.L_x_3) ;
.L_x_3:
        /*0060*/  EXIT ;
\t.type           $walk$step,@function
$walk$step:
.L_x_4:
        /*0068*/  LDG.E R3, [R4.64] ;
        /*0070*/  LDL R2, [R1]  (*\"SpillRefill\"*);
        /*0080*/  @P0 BRA `(.L_x_4) ;
\t.type           $idle$step,@function
$idle$step:
        /*0090*/  LDL R2, [R1]  (*\"SpillRefill\"*);
";

    #[test]
    fn only_spills_within_hot_loops_count_and_the_worst_copy_stands() {
        let found = count(LISTING);
        assert_eq!(found.get("walk"), Some(&0));
        assert_eq!(found.get("step"), Some(&1));
    }

    #[test]
    fn a_jump_ahead_is_no_loop() {
        let lines: Vec<&str> = LISTING.lines().collect();
        let end = lines.iter().position(|line| line.contains("$walk$step,"));
        assert_eq!(loops(&lines[..end.unwrap()]).len(), 2);
    }

    #[test]
    fn loops_that_call_or_leave_memory_alone_are_not_hot() {
        let load = "        /*0000*/  LDG.E R3, [R4.64] ;";
        let call = "        /*0010*/  CALL.REL.NOINC `(step) ;";
        assert!(is_hot(&[load]));
        assert!(!is_hot(&[load, call]));
        assert!(!is_hot(&["        /*0000*/  LDS R3, [R4] ;"]));
    }

    #[test]
    fn getting_through_a_vote_with_parted_lanes_is_no_loop() {
        let listing = "\
.L_x_1:
        /*0000*/  VOTE.ANY R3, PT, P1 ;
.L_x_5:
        /*0010*/  LDL R2, [R1]  (*\"SpillRefill\"*);
        /*0020*/  @P0 BRA `(.L_x_1) ;
        /*0030*/  RET.REL.NODEC R2 ;
.L_x_6:
        /*0040*/  WARPSYNC.COLLECTIVE R4, `(.L_x_7) ;
        /*0050*/  VOTE.ANY R4, PT, P1 ;
.L_x_7:
        /*0060*/  BRA `(.L_x_5) ;
.L_x_8:
        /*0070*/  BRA `(.L_x_8) ;
";
        let lines: Vec<&str> = listing.lines().collect();
        assert_eq!(loops(&lines), BTreeSet::from([(0, 4), (11, 12)]));
    }

    #[test]
    fn what_is_no_machine_code_is_an_error() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = code_bytes(file.path()).unwrap_err().to_string();
        assert!(error.contains("no ELF file"), "{error}");
    }
}
