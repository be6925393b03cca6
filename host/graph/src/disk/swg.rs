//! A `.swg` file, opened to read its edges piece by piece.

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::rows::{RowError, Rows};
use crate::binary::{HEADER_BYTES, Header, MAGIC, MULTI, SYMMETRIC, Sections, WIDE};
use crate::build::{Counts, Order};
use crate::csr::Csr;
use crate::ids::{Ids, NameTable};
use crate::memory;
use crate::sample::digest_of_sample;
use crate::{BinaryProblem, Graph, GraphError, WeightKind};

/// Bytes read at once.
const STEP_BYTES: usize = 1 << 20;

/// An open `.swg` file of which only the header was read.
#[derive(Debug)]
pub struct SwgFile {
    path: PathBuf,
    file: File,
    state: State,
    header: Header,
    sections: Sections,
}

/// The nodes of a file: row offsets and ids.
#[derive(Debug)]
pub struct DiskNodes {
    /// Row offsets.
    pub rows: Rows,
    /// The same nodes, with their ids in the file, and no edges; the counts of loops and parallel
    /// edges are those that the file promises.
    pub nodes: Graph,
}

/// Marks that change once a file is written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct State {
    bytes: u64,
    modified: Option<SystemTime>,
    /// Time of the last change of the file's status, which covers a reset of the other time and
    /// removal of a name.
    changed: (i64, i64),
    names: u64,
}

impl State {
    fn of(metadata: &Metadata) -> Self {
        #[cfg(unix)]
        let (changed, names) = {
            use std::os::unix::fs::MetadataExt;
            ((metadata.ctime(), metadata.ctime_nsec()), metadata.nlink())
        };
        #[cfg(not(unix))]
        let (changed, names) = ((0, 0), 1);
        Self {
            bytes: metadata.len(),
            modified: metadata.modified().ok(),
            changed,
            names,
        }
    }

    /// Returns whether the content is that of `earlier`, as far as the system reports it.
    fn is_of(&self, earlier: &Self) -> bool {
        let is_alike = (self.bytes, self.modified) == (earlier.bytes, earlier.modified);
        is_alike && (self.changed == earlier.changed || self.names != earlier.names)
    }
}

impl SwgFile {
    /// Opens a file and checks its header and its length. `None` if it is no regular file, or
    /// does not start as a `.swg`: compressed files and other formats do not.
    ///
    /// # Errors
    /// [`GraphError::Io`], [`GraphError::Binary`].
    pub fn open(path: &Path) -> Result<Option<Self>, GraphError> {
        let failed = |action| failed(path, action);
        let is_regular = |metadata: &Metadata| metadata.is_file();
        if !path.metadata().as_ref().is_ok_and(is_regular) {
            return Ok(None);
        }
        let mut file = File::open(path).map_err(failed("open"))?;
        let metadata = file.metadata().map_err(failed("read"))?;
        let mut bytes = [0; HEADER_BYTES];
        let held = fill(&mut file, &mut bytes).map_err(failed("read"))?;
        if !bytes[..held].starts_with(&MAGIC) {
            return Ok(None);
        }
        let state = State::of(&metadata);
        let length = |promised| BinaryProblem::Length {
            promised,
            found: state.bytes,
        };
        if held < HEADER_BYTES {
            return Err(bad(path, length(HEADER_BYTES as u64)));
        }
        let header = Header::parse(&bytes).map_err(|problem| bad(path, problem))?;
        let sections = header.sections();
        if sections.end != state.bytes {
            return Err(bad(path, length(sections.end)));
        }
        Ok(Some(Self {
            path: path.to_owned(),
            file,
            state,
            header,
            sections,
        }))
    }

    /// Reads the row offsets and the ids or names, and checks them. Takes four bytes for each node,
    /// eight for each id if the file has a table of them, and eight and its text for each name.
    ///
    /// # Errors
    /// As [`Self::open`], and [`GraphError::Memory`].
    pub fn nodes(&self) -> Result<DiskNodes, GraphError> {
        let rows = if self.header.has(WIDE) {
            self.starts(8, |bytes| u64::from_le_bytes(first(bytes)))?
        } else {
            self.starts(4, |bytes| u64::from(u32::from_le_bytes(first(bytes))))?
        };
        if rows.edges() != self.edges() {
            return Err(self.bad(BinaryProblem::Offset {
                node: self.header.nodes,
                value: rows.edges(),
            }));
        }
        let short = |short| GraphError::memory(&self.name(), short);
        let ids = match (&self.sections.ids, &self.sections.name_ends) {
            (Some(_), _) => Ids::Table(self.ids()?),
            (None, Some(_)) => Ids::Names(self.names()?),
            (None, None) => Ids::Offset(self.header.first_id),
        };
        let none = Csr::without_edges(self.header.nodes as u32).map_err(short)?;
        // Resident graphs have fewer than 2^32 edges, so counts of a header fit.
        let word = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
        let counts = Counts {
            loops: word(self.header.loops),
            parallel: word(self.header.parallel),
            mirrored: 0,
        };
        let nodes = Graph::from_parts(none, self.is_symmetric(), ids);
        let nodes = nodes.with_counts(counts, Order::Listed);
        Ok(DiskNodes { rows, nodes })
    }

    fn starts(&self, width: usize, word: impl Fn(&[u8]) -> u64) -> Result<Rows, GraphError> {
        let wrong = |error| self.wrong_row(error);
        let mut rows = Rows::with_space(self.header.nodes as u32).map_err(wrong)?;
        self.each(&self.sections.offsets, |bytes| {
            bytes
                .chunks_exact(width)
                .try_for_each(|bytes| rows.push(word(bytes)))
                .map_err(wrong)
        })?;
        Ok(rows)
    }

    pub(super) fn wrong_row(&self, error: RowError) -> GraphError {
        match error {
            RowError::Order { row, start } => self.bad(BinaryProblem::Offset {
                node: row,
                value: start,
            }),
            RowError::Memory(short) => GraphError::memory(&self.name(), short),
        }
    }

    /// Reads words of a section, from its word `first` on.
    pub(super) fn read_words(
        &self,
        section: &std::ops::Range<u64>,
        first: u64,
        to: &mut [u32],
    ) -> Result<(), GraphError> {
        let mut file = &self.file;
        let failed = failed(&self.path, "read");
        let at = section.start + 4 * first;
        file.seek(SeekFrom::Start(at)).map_err(&failed)?;
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(to);
        let held = fill(file, bytes).map_err(&failed)?;
        if held < bytes.len() {
            return Err(self.short(at + held as u64));
        }
        Ok(())
    }

    fn names(&self) -> Result<NameTable, GraphError> {
        let mut ends: Vec<u64> = self.space(self.header.nodes)?;
        let section = self.sections.name_ends.clone().unwrap_or(0..0);
        self.each(&section, |bytes| {
            let words = bytes.chunks_exact(8);
            ends.extend(words.map(|bytes| u64::from_le_bytes(first(bytes))));
            Ok(())
        })?;
        let section = self.sections.name_text.clone().unwrap_or(0..0);
        let mut text: Vec<u8> = self.space(section.end - section.start)?;
        self.each(&section, |bytes| {
            text.extend_from_slice(bytes);
            Ok(())
        })?;
        NameTable::checked(text, ends).map_err(|node| self.bad(BinaryProblem::Name { node }))
    }

    /// An empty array with space for a section, whose length the file has.
    fn space<T>(&self, count: u64) -> Result<Vec<T>, GraphError> {
        let mut words = Vec::new();
        memory::reserve_exact(&mut words, count as usize)
            .map_err(|short| GraphError::memory(&self.name(), short))?;
        Ok(words)
    }

    fn ids(&self) -> Result<Vec<u64>, GraphError> {
        let mut ids: Vec<u64> = self.space(self.header.nodes)?;
        let section = self.sections.ids.clone().unwrap_or(0..0);
        self.each(&section, |bytes| {
            for bytes in bytes.chunks_exact(8) {
                let value = u64::from_le_bytes(first(bytes));
                if ids.last().is_some_and(|last| *last >= value) {
                    let node = ids.len() as u64;
                    return Err(self.bad(BinaryProblem::Ids { node, value }));
                }
                ids.push(value);
            }
            Ok(())
        })?;
        Ok(ids)
    }

    /// Reads a section piece by piece; all pieces except the last are whole words of 8 bytes.
    fn each(
        &self,
        section: &std::ops::Range<u64>,
        mut take: impl FnMut(&[u8]) -> Result<(), GraphError>,
    ) -> Result<(), GraphError> {
        let mut file = &self.file;
        let failed = failed(&self.path, "read");
        file.seek(SeekFrom::Start(section.start)).map_err(&failed)?;
        let mut buffer = vec![0; STEP_BYTES];
        let mut at = section.start;
        while at < section.end {
            let want = (section.end - at).min(STEP_BYTES as u64) as usize;
            let held = fill(&mut file, &mut buffer[..want]).map_err(&failed)?;
            if held < want {
                return Err(self.short(at + held as u64));
            }
            take(&buffer[..want])?;
            at += want as u64;
        }
        Ok(())
    }

    /// The path that it was opened by.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path in messages.
    #[must_use]
    pub fn name(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }

    /// The open file.
    #[must_use]
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Number of nodes.
    #[must_use]
    pub fn node_count(&self) -> u32 {
        self.header.nodes as u32
    }

    /// Number of directed edges.
    #[must_use]
    pub fn edges(&self) -> u64 {
        self.header.edges
    }

    /// Whether the file claims that every edge has its mirror image; nothing here checks it.
    #[must_use]
    pub fn is_symmetric(&self) -> bool {
        self.header.has(SYMMETRIC)
    }

    /// Whether there are no loops and no parallel edges, so that rows ascend strictly.
    #[must_use]
    pub fn is_simple(&self) -> bool {
        !self.header.has(MULTI)
    }

    /// Kind of the weights, if the file has any.
    #[must_use]
    pub fn weight_kind(&self) -> Option<WeightKind> {
        self.sections
            .weights
            .as_ref()
            .map(|_| self.header.weight_kind())
    }

    /// Place of the targets in the file: a little-endian word for each edge, in the order of rows.
    #[must_use]
    pub fn targets(&self) -> std::ops::Range<u64> {
        self.sections.targets.clone()
    }

    /// Place of the weights in the file, in the layout of the [targets](Self::targets); `None` without
    /// weights.
    #[must_use]
    pub fn weights(&self) -> Option<std::ops::Range<u64>> {
        self.sections.weights.clone()
    }

    /// A digest of the file's length and of blocks spread over it, of all bytes up to 16 MiB, by which
    /// processes compare their files.
    ///
    /// # Errors
    /// [`GraphError::Io`].
    #[doc(hidden)]
    pub fn digest(&self) -> Result<u64, GraphError> {
        digest_of_sample(&self.file).map_err(failed(&self.path, "read"))
    }

    /// Refuses a file that was written to since it was opened.
    ///
    /// # Errors
    /// [`GraphError::Changed`], [`GraphError::Io`].
    pub fn check_unchanged(&self) -> Result<(), GraphError> {
        let metadata = self.file.metadata();
        let now = State::of(&metadata.map_err(failed(&self.path, "read"))?);
        if now.is_of(&self.state) {
            return Ok(());
        }
        if now.bytes != self.state.bytes {
            return Err(self.short(now.bytes));
        }
        Err(GraphError::Changed { file: self.name() })
    }

    /// The error for a file of `found` bytes.
    #[must_use]
    pub fn short(&self, found: u64) -> GraphError {
        self.bad(BinaryProblem::Length {
            promised: self.sections.end,
            found,
        })
    }

    /// The error for invalid content.
    #[must_use]
    pub fn bad(&self, problem: BinaryProblem) -> GraphError {
        bad(&self.path, problem)
    }

    /// The error for a read that the system refused.
    #[must_use]
    pub fn unread(&self, source: io::Error) -> GraphError {
        failed(&self.path, "read")(source)
    }
}

/// The first bytes of a slice that has as many.
fn first<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.first_chunk().copied().unwrap_or([0; N])
}

/// Fills the buffer with as many bytes as there are.
fn fill(mut file: impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut held = 0;
    while held < buffer.len() {
        match file.read(&mut buffer[held..]) {
            Ok(0) => break,
            Ok(count) => held += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(held)
}

fn bad(path: &Path, problem: BinaryProblem) -> GraphError {
    GraphError::Binary {
        file: path.to_string_lossy().into_owned(),
        format: ".swg",
        problem,
    }
}

fn failed(path: &Path, action: &'static str) -> impl Fn(io::Error) -> GraphError {
    move |source| GraphError::Io {
        file: path.to_string_lossy().into_owned(),
        action,
        source,
    }
}
