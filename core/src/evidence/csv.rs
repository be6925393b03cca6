//! Evidence as text: written through `core::fmt`, read without copying.
//!
//! The float routines of the standard library hold panic paths, which are never reached from
//! here. An image that must link without a panic path does not call this module.

use super::{BACKEND, EvidenceError, Gate, Proof, Sample};
use arrayvec::ArrayVec;
use core::fmt;
use core::str::FromStr;

/// The columns, in order.
pub const COLUMNS: [&str; 14] = [
    "backend_id",
    "device_ordinal",
    "device_memory_bytes",
    "compute_capability_major",
    "compute_capability_minor",
    "graph_nodes",
    "graph_edges",
    "repetitions",
    "host_orchestrated_ns",
    "resident_megakernel_ns",
    "setup_ns",
    "timed_graph_uploads",
    "timed_host_allocations",
    "timed_host_syncs",
];

/// The header line: the columns joined by commas.
pub const HEADER: &str = "backend_id,device_ordinal,device_memory_bytes,\
compute_capability_major,compute_capability_minor,graph_nodes,graph_edges,repetitions,\
host_orchestrated_ns,resident_megakernel_ns,setup_ns,timed_graph_uploads,\
timed_host_allocations,timed_host_syncs";

/// The reason why evidence could not be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(tag = "kind", rename_all = "snake_case"))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum CsvError {
    /// A backend id holds a comma, a line break, or blanks at an end: it would not read back.
    #[error(
        "the backend id of sample {index} holds a comma, a line break or outer blanks; use a \
         plain name"
    )]
    UnwritableBackendId {
        /// Index of the sample.
        index: u64,
    },
    /// The sink refused more text.
    #[error("the sink took no more text; enlarge it")]
    Sink,
}

kinds! { CsvError {
    UnwritableBackendId => "unwritable_backend_id",
    Sink => "sink",
} }

impl From<fmt::Error> for CsvError {
    fn from(_: fmt::Error) -> Self {
        Self::Sink
    }
}

/// Writes the header and one line per sample, each ended by a line feed.
///
/// Floats are written as the shortest decimal that reads back equal, without exponent.
///
/// # Errors
/// [`CsvError`]; lines before the faulty one have been written.
pub fn write_csv<'s, W: fmt::Write>(
    out: &mut W,
    samples: impl IntoIterator<Item = &'s Sample<'s>>,
) -> Result<(), CsvError> {
    writeln!(out, "{HEADER}")?;
    let mut index = 0u64;
    for sample in samples {
        if !reads_back(sample.backend_id) {
            return Err(CsvError::UnwritableBackendId { index });
        }
        write_row(out, sample)?;
        index = index.saturating_add(1);
    }
    Ok(())
}

fn reads_back(backend_id: &str) -> bool {
    backend_id.trim() == backend_id && !backend_id.contains([',', '\n', '\r'])
}

fn write_row<W: fmt::Write>(out: &mut W, s: &Sample<'_>) -> fmt::Result {
    write!(out, "{},{},", s.backend_id, s.device_ordinal)?;
    write!(out, "{},", s.device_memory_bytes)?;
    write!(out, "{},", s.compute_capability_major)?;
    write!(out, "{},", s.compute_capability_minor)?;
    write!(out, "{},{},", s.graph_nodes, s.graph_edges)?;
    write!(out, "{},{},", s.repetitions, s.host_orchestrated_ns)?;
    write!(out, "{},{},", s.resident_megakernel_ns, s.setup_ns)?;
    write!(out, "{},", s.timed_graph_uploads)?;
    write!(out, "{},", s.timed_host_allocations)?;
    writeln!(out, "{}", s.timed_host_syncs)
}

/// Judges the samples of a text, line by line, against a required speed-up.
///
/// Lines end in LF or CRLF; blank ones are skipped but counted, and fields are trimmed. Costs
/// O(text) time and no memory; nothing is copied.
///
/// ```
/// use seawall_core::evidence::{EvidenceError, HEADER, verify_csv};
/// let text = format!("{HEADER}\n\ncuda,0\n");
/// assert_eq!(verify_csv(&text, 2.0), Err(EvidenceError::InvalidEvidenceRow { line: 3 }));
/// ```
///
/// # Errors
/// An invalid threshold before anything is read, then the first fault in reading order, then
/// too few distinct samples.
pub fn verify_csv(text: &str, required_x: f64) -> Result<Proof, EvidenceError<'_>> {
    let mut gate = Gate::new(required_x)?;
    let mut lines = (1u64..)
        .zip(text.lines())
        .filter(|(_, line)| !line.trim().is_empty());
    let Some((_, observed)) = lines.next() else {
        return Err(EvidenceError::EmptySamples);
    };
    if observed.trim() != HEADER {
        return Err(EvidenceError::InvalidEvidenceHeader { observed });
    }
    for (line, row) in lines {
        gate.push(&read_row(line, row)?)?;
    }
    gate.finish()
}

fn read_row(line: u64, row: &str) -> Result<Sample<'_>, EvidenceError<'_>> {
    let mut values = ArrayVec::<&str, { COLUMNS.len() }>::new();
    let fits = row.split(',').all(|value| values.try_push(value).is_ok());
    if !fits || !values.is_full() {
        return Err(EvidenceError::InvalidEvidenceRow { line });
    }
    let mut fields = Fields {
        line,
        columns: COLUMNS.iter(),
        values: values.into_iter(),
    };
    // The order of evaluation is the order of the columns.
    Ok(Sample {
        backend_id: fields.backend()?,
        device_ordinal: fields.number()?,
        device_memory_bytes: fields.number()?,
        compute_capability_major: fields.number()?,
        compute_capability_minor: fields.number()?,
        graph_nodes: fields.number()?,
        graph_edges: fields.number()?,
        repetitions: fields.number()?,
        host_orchestrated_ns: fields.number()?,
        resident_megakernel_ns: fields.number()?,
        setup_ns: fields.number()?,
        timed_graph_uploads: fields.number()?,
        timed_host_allocations: fields.number()?,
        timed_host_syncs: fields.number()?,
    })
}

/// The fields of one row, read from left to right.
struct Fields<'a> {
    line: u64,
    columns: core::slice::Iter<'static, &'static str>,
    values: arrayvec::IntoIter<&'a str, { COLUMNS.len() }>,
}

impl<'a> Fields<'a> {
    fn next(&mut self) -> Result<(&'static str, &'a str), EvidenceError<'a>> {
        match (self.columns.next(), self.values.next()) {
            (Some(field), Some(value)) => Ok((field, value.trim())),
            _ => Err(EvidenceError::InvalidEvidenceRow { line: self.line }),
        }
    }

    fn backend(&mut self) -> Result<&'a str, EvidenceError<'a>> {
        let (field, value) = self.next()?;
        if value == BACKEND {
            Ok(value)
        } else {
            Err(self.refuse(field, value))
        }
    }

    fn number<T: FromStr>(&mut self) -> Result<T, EvidenceError<'a>> {
        let (field, value) = self.next()?;
        value.parse().map_err(|_| self.refuse(field, value))
    }

    const fn refuse(&self, field: &'static str, value: &'a str) -> EvidenceError<'a> {
        EvidenceError::InvalidEvidenceValue {
            line: self.line,
            field,
            value,
        }
    }
}
