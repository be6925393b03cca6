//! Protection of files: two outputs never share one, and no output is an input.
//!
//! It is checked before any work. Files are compared by identity and not by spelling, so that links
//! do not matter.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::CliError;
use seawall::graph::file::{FileId, WriteError, is_standard_output, is_written_through, probe};
use seawall_report::canvas::PictureFormat;

/// Returns a path for the standard output, instead of a file with the name `-`.
pub(super) fn named(output: PathBuf) -> PathBuf {
    match output.to_str() {
        Some("-") => PathBuf::from("/dev/stdout"),
        _ => output,
    }
}

/// Opens a file, or standard input for `-`.
pub(super) fn input(file: impl AsRef<Path>) -> io::Result<Box<dyn Read>> {
    let file = file.as_ref();
    Ok(match file.as_os_str() == "-" {
        true => Box::new(io::stdin().lock()),
        false => Box::new(File::open(file)?),
    })
}

/// Reads such a text, at most `most` bytes of it.
pub(super) fn text_of(file: impl AsRef<Path>, most: u64) -> io::Result<String> {
    let mut text = String::new();
    input(file)?.take(most).read_to_string(&mut text)?;
    Ok(text)
}

/// The format of the picture that `option` names. Pipes and devices may have any name.
pub(super) fn picture(option: &'static str, path: &Path) -> Result<PictureFormat, CliError> {
    let is_open = path.extension().is_none() && is_written_through(path);
    let format = PictureFormat::of(path).or(is_open.then_some(PictureFormat::Svg));
    format.ok_or_else(|| CliError::UnknownPicture {
        option,
        path: path.display().to_string(),
    })
}

/// An output of the command line.
#[derive(Clone, Debug)]
struct Named {
    role: String,
    id: FileId,
}

/// The outputs of a command, all different.
#[derive(Debug, Default)]
pub(super) struct Outputs {
    files: Vec<Named>,
    on_standard_output: Option<String>,
}

impl Outputs {
    /// Adds the output `path`, which `option` names.
    pub(super) fn add(&mut self, option: &str, path: &Path) -> Result<(), CliError> {
        probe(path)?;
        let role = format!("{option} {}", path.display());
        let id = FileId::of(path).map_err(|source| WriteError {
            path: path.to_owned(),
            source,
        })?;
        let same = |output: &&Named| Some(&output.id) == id.as_ref();
        let other = self.files.iter().find(same).map(|output| &output.role);
        let shared = self.on_standard_output.as_ref();
        let is_shared = is_standard_output(path);
        if let Some(other) = other.or(shared.filter(|_| is_shared)) {
            return Err(CliError::OneFileTwice {
                first: other.clone(),
                second: role,
            });
        }
        if is_shared {
            self.on_standard_output = Some(role.clone());
        }
        self.files.extend(id.map(|id| Named { role, id }));
        Ok(())
    }

    /// Refuses an output that is standard output, or that standard output is redirected to, for a
    /// command that prints its report there.
    pub(super) fn spare_report(&self) -> Result<(), CliError> {
        let replaced = self.at(Path::new("/dev/stdout"));
        let output = replaced.map(|output| &output.role);
        match output.or(self.on_standard_output.as_ref()) {
            Some(output) => Err(CliError::OneFileTwice {
                first: output.clone(),
                second: "the report on standard output".to_owned(),
            }),
            None => Ok(()),
        }
    }

    /// Returns whether a report follows; refuses outputs in its place. `is_silent` if none was asked
    /// for.
    pub(super) fn have_report(&self, is_silent: bool) -> Result<bool, CliError> {
        let has_report = !is_silent && !self.take_standard_output();
        if has_report {
            self.spare_report()?;
        }
        Ok(has_report)
    }

    /// Returns whether an output is standard output, so that no report may follow it.
    pub(super) fn take_standard_output(&self) -> bool {
        self.on_standard_output.is_some()
    }

    /// Refuses the input `name`, a file or `-`, if it is one of the outputs.
    pub(super) fn spare(&self, name: impl AsRef<Path>) -> Result<(), CliError> {
        let name = name.as_ref();
        let is_stdin = name == Path::new("-");
        let path = if is_stdin {
            Path::new("/dev/stdin")
        } else {
            name
        };
        match self.at(path) {
            Some(output) => Err(CliError::OutputIsInput {
                output: output.role.clone(),
                input: name.display().to_string(),
            }),
            None => Ok(()),
        }
    }

    /// Returns the output at `path`, an existing file. A missing file is not an output, and its
    /// reader reports it.
    fn at(&self, path: &Path) -> Option<&Named> {
        // If no output exists as a file yet, this skips thousands of lookups of inputs.
        let mut old = self
            .files
            .iter()
            .filter(|output| output.id.exists())
            .peekable();
        old.peek()?;
        let id = FileId::of(path).ok().flatten()?;
        old.find(|output| output.id == id)
    }
}
