//! Programs from text files, for `run` and `plan`.

use std::io;
use std::path::Path;

use super::files::text_of;
use seawall::Cause;
use seawall::backend::BackendError;
use seawall::program::{
    GraphSize, Kind, ProgramError, TEXT_BYTES_MAX, TextError, TextProgram, read_text,
};
use serde_json::{Value, json};

/// A program of a text could not be read, planned or run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(super) enum ProgramFailure {
    /// The file cannot be read.
    #[error("{file}: cannot read: {source}")]
    Unreadable {
        file: String,
        /// The operating system's answer.
        source: io::Error,
    },
    #[error("{file}: {source}")]
    Text {
        file: String,
        /// The problem and its place.
        source: TextError,
    },
    #[error(transparent)]
    Run { source: BackendError },
    /// `--out` without a result.
    #[error("--out writes results, and the program keeps none; add \"keep\": true to a register")]
    NoResult,
    /// A name that a column cannot have.
    #[error(
        "--out cannot name a column {name:?}; \"index\" is the first one, and names in .npy are ASCII without quotes"
    )]
    ColumnName { name: String },
    /// Results of different lengths, in a file whose rows are whole.
    #[error(
        "a .npy file has whole rows, and {:?} has {} values, {:?} has {}; write .csv or .json, or keep one of them",
        names[0], counts[0], names[1], counts[1]
    )]
    Lengths {
        /// Two results.
        names: [String; 2],
        /// Number of their values.
        counts: [u64; 2],
    },
    /// Two programs of a service with one name.
    #[error("{file}: a program is called {name:?} already; rename one of the files")]
    SameName {
        file: String,
        /// Its name without folder and extension.
        name: String,
    },
    /// A program of a service without a result.
    #[error("{file}: the program keeps no result; add \"keep\": true to a register")]
    NothingKept { file: String },
    /// A program of a service with too many input words.
    #[error("{file}: the inputs have {words} words, and a service takes {most} at most")]
    LongInputs {
        file: String,
        words: u64,
        /// Words that are taken.
        most: u64,
    },
    /// An input of the command line that the program does not take.
    #[error("--input {argument}: {problem}")]
    Input {
        /// The argument, or the input's name.
        argument: String,
        problem: String,
    },
    /// A program for several graphs.
    #[error("--program runs on one graph, and these are {graphs}; run it on each alone")]
    Batch {
        /// Number of values found.
        graphs: usize,
    },
}

impl ProgramFailure {
    pub(super) fn cause(&self) -> Cause {
        match self {
            Self::Unreadable { source, .. } => Cause::of_io(source),
            Self::Run { source } => source.cause(),
            _ => Cause::Request,
        }
    }

    pub(super) fn fields(&self) -> Value {
        match self {
            Self::Unreadable { file, source } => {
                json!({"kind": "unreadable", "file": file, "reason": source.to_string()})
            }
            Self::Text { file, source } => match source {
                TextError::Json { line, column, .. } => {
                    json!({"kind": "invalid_json", "file": file, "line": line, "column": column})
                }
                TextError::At { place, .. } => {
                    json!({"kind": "program_text", "file": file, "place": place})
                }
                _ => json!({"kind": "program", "file": file}),
            },
            Self::Run { .. } => json!({"kind": "program_run"}),
            Self::SameName { file, name } => {
                json!({"kind": "same_name", "file": file, "name": name})
            }
            Self::NothingKept { file } => json!({"kind": "no_result", "file": file}),
            Self::LongInputs { file, words, most } => {
                json!({"kind": "long_inputs", "file": file, "words": words, "most": most})
            }
            Self::NoResult => json!({"kind": "no_result"}),
            Self::ColumnName { name } => json!({"kind": "column_name", "name": name}),
            Self::Lengths { names, counts } => {
                json!({"kind": "result_lengths", "names": names, "counts": counts})
            }
            Self::Input { argument, .. } => json!({"kind": "program_input", "input": argument}),
            Self::Batch { graphs } => json!({"kind": "one_graph", "graphs": graphs}),
        }
    }
}

pub(super) struct ProgramFile {
    file: String,
    text: String,
}

/// Most bytes that are read of a file: one more than any text may have.
const BYTES_MAX: u64 = TEXT_BYTES_MAX as u64 + 1;

/// Reads a file, or standard input for `-`.
pub(super) fn read(file: &Path) -> Result<ProgramFile, ProgramFailure> {
    let text = text_of(file, BYTES_MAX);
    let file = file.to_string_lossy().into_owned();
    match text {
        Ok(text) => Ok(ProgramFile { file, text }),
        Err(source) => Err(ProgramFailure::Unreadable { file, source }),
    }
}

impl ProgramFile {
    pub(super) fn program(&self, graph: GraphSize) -> Result<TextProgram, ProgramFailure> {
        read_text(&self.text, graph).map_err(|source| self.failure(source))
    }

    /// The failure of a program that is invalid as a whole.
    pub(super) fn refused(&self, source: ProgramError) -> ProgramFailure {
        self.failure(source.into())
    }

    fn failure(&self, source: TextError) -> ProgramFailure {
        let file = self.file.clone();
        ProgramFailure::Text { file, source }
    }
}

/// The double with the fewest digits of which `float` is the nearest float, so that a text has no
/// digits that the float does not know.
fn shortest(float: f32) -> f64 {
    let double = float.to_string().parse().unwrap_or(f64::from(float));
    if double as f32 == float {
        double
    } else {
        f64::from(float)
    }
}

/// The values of a kind in `words`, as JSON; NaN is null.
pub(super) fn values(kind: Kind, words: &[u32]) -> impl Iterator<Item = Value> {
    let words = words.chunks_exact(kind.words() as usize);
    words.map(move |words| match (kind, words) {
        (Kind::U32, [word]) => json!(word),
        (Kind::I32, [word]) => json!(*word as i32),
        (Kind::F32, [word]) => json!(shortest(f32::from_bits(*word))),
        (_, [low, high]) => json!(u64::from(*low) | u64::from(*high) << 32),
        _ => Value::Null,
    })
}
