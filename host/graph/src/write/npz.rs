//! Writes `.npz` as SciPy saves a matrix of compressed sparse rows: a zip archive whose members,
//! stored and not deflated, are arrays of NumPy.
//!
//! SciPy ignores two members of this program's own: the ids of the nodes where they are not 0, 1,
//! 2, …, and one that says that the ones in `data` are no weights.

use std::borrow::Cow;
use std::io::{self, Write};

use flate2::Crc;

use super::sink::Sink;
use crate::ids::Ids;
use crate::npy::{self, Dtype};
use crate::npz_members::{IDS, UNWEIGHTED};
use crate::{Graph, WeightKind};

/// Version of the format that has sizes of 64 bits.
const VERSION: u16 = 45;
/// Placeholder of a size of 64 bits.
const LARGE: u32 = u32::MAX;
/// Bytes of ones at once.
const STEP: usize = 1 << 14;

struct Array<'a> {
    name: &'static str,
    descr: &'static str,
    shape: Vec<u64>,
    content: Content<'a>,
}

enum Content<'a> {
    Bytes(Cow<'a, [u8]>),
    /// A number of words of 1.
    Ones(u32),
}

impl Content<'_> {
    fn bytes(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::Ones(count) => 4 * u64::from(*count),
        }
    }

    /// Hands all bytes to `take`, piece by piece.
    fn each(&self, take: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        match self {
            Self::Bytes(bytes) => take(bytes),
            Self::Ones(count) => {
                let ones = vec![1u32; STEP];
                let mut left = *count as usize;
                while left > 0 {
                    let step = left.min(STEP);
                    take(bytemuck::cast_slice(&ones[..step]))?;
                    left -= step;
                }
                Ok(())
            }
        }
    }
}

/// Writes the matrix.
pub(super) fn write(graph: &Graph, sink: &mut Sink) -> io::Result<()> {
    let mut zip = Zip {
        sink,
        at: 0,
        directory: Vec::new(),
        members: 0,
    };
    for array in arrays(graph) {
        zip.array(&array)?;
    }
    zip.finish()
}

fn arrays(graph: &Graph) -> Vec<Array<'_>> {
    let vector = |name, descr, words| Array {
        name,
        descr,
        shape: vec![(<[u8]>::len(words) / 4) as u64],
        content: Content::Bytes(Cow::Borrowed(words)),
    };
    let nodes = i64::from(graph.nodes());
    let shape: [i64; 2] = [nodes, nodes];
    let mut arrays = vec![
        vector("indices", "<i4", bytemuck::cast_slice(graph.targets())),
        vector("indptr", "<i4", bytemuck::cast_slice(graph.offsets())),
        Array {
            name: "format",
            descr: "|S3",
            shape: Vec::new(),
            content: Content::Bytes(Cow::Borrowed(b"csr")),
        },
        Array {
            name: "shape",
            descr: "<i8",
            shape: vec![2],
            content: Content::Bytes(Cow::Owned(bytemuck::cast_slice(&shape).to_vec())),
        },
    ];
    match (graph.weights(), graph.weight_kind()) {
        (Some(words), Some(kind)) => {
            let descr = match kind {
                WeightKind::Integer => "<u4",
                WeightKind::Signed => "<i4",
                WeightKind::Float | WeightKind::SignedFloat => "<f4",
            };
            let mut data = vector("data", descr, bytemuck::cast_slice(words));
            if kind.is_signed() {
                let bits: Vec<u32> = words.iter().map(|word| kind.number_bits(*word)).collect();
                data.content = Content::Bytes(Cow::Owned(bytemuck::cast_slice(&bits).to_vec()));
            }
            arrays.push(data);
        }
        _ => {
            arrays.push(Array {
                name: "data",
                descr: "<i4",
                shape: vec![u64::from(graph.edges())],
                content: Content::Ones(graph.edges()),
            });
            arrays.push(Array {
                name: UNWEIGHTED,
                descr: "|b1",
                shape: Vec::new(),
                content: Content::Bytes(Cow::Borrowed(&[1])),
            });
        }
    }
    let ids: Cow<'_, [u64]> = match graph.ids() {
        Ids::Offset(0) | Ids::Names(_) => return arrays,
        Ids::Offset(first) => (0..u64::from(graph.nodes()))
            .map(|node| node + first)
            .collect(),
        Ids::Table(ids) => Cow::Borrowed(ids),
    };
    arrays.push(Array {
        name: IDS,
        descr: "<u8",
        shape: vec![ids.len() as u64],
        content: Content::Bytes(match ids {
            Cow::Borrowed(ids) => Cow::Borrowed(bytemuck::cast_slice(ids)),
            Cow::Owned(ids) => Cow::Owned(bytemuck::cast_slice(&ids).to_vec()),
        }),
    });
    arrays
}

/// A zip archive that is being written.
struct Zip<'s> {
    sink: &'s mut Sink,
    at: u64,
    directory: Vec<u8>,
    members: u16,
}

impl Zip<'_> {
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.at += bytes.len() as u64;
        self.sink.write_all(bytes)
    }

    fn array(&mut self, array: &Array<'_>) -> io::Result<()> {
        let head = npy::head(&Dtype::Plain(array.descr), &array.shape);
        let mut sum = Crc::new();
        sum.update(&head);
        array.content.each(&mut |bytes| {
            sum.update(bytes);
            Ok(())
        })?;
        let size = head.len() as u64 + array.content.bytes();
        let (name, start) = (format!("{}.npy", array.name), self.at);
        let common = common(sum.sum(), &name);
        let sizes = [size.to_le_bytes(), size.to_le_bytes()].concat();
        let local = [
            &b"PK\x03\x04"[..],
            &VERSION.to_le_bytes(),
            &common,
            &(20u16).to_le_bytes(),
            name.as_bytes(),
            &extra(&sizes),
        ]
        .concat();
        self.put(&local)?;
        self.put(&head)?;
        array.content.each(&mut |bytes| self.put(bytes))?;
        let places = [&sizes[..], &start.to_le_bytes()].concat();
        let entry = [
            &b"PK\x01\x02"[..],
            &VERSION.to_le_bytes(),
            &VERSION.to_le_bytes(),
            &common,
            &(28u16).to_le_bytes(),
            // No comment, the first disk, no attributes.
            &[0; 10],
            &LARGE.to_le_bytes(),
            name.as_bytes(),
            &extra(&places),
        ]
        .concat();
        self.directory.extend(entry);
        self.members += 1;
        Ok(())
    }

    /// Writes the directory and its end, for sizes of 64 and of 32 bits.
    fn finish(mut self) -> io::Result<()> {
        let (start, directory) = (self.at, std::mem::take(&mut self.directory));
        self.put(&directory)?;
        let end = self.at;
        let (members, bytes) = (u64::from(self.members), directory.len() as u64);
        let wide = [
            &b"PK\x06\x06"[..],
            &44u64.to_le_bytes(),
            &VERSION.to_le_bytes(),
            &VERSION.to_le_bytes(),
            &[0; 8],
            &members.to_le_bytes(),
            &members.to_le_bytes(),
            &bytes.to_le_bytes(),
            &start.to_le_bytes(),
            b"PK\x06\x07",
            &[0; 4],
            &end.to_le_bytes(),
            &1u32.to_le_bytes(),
        ]
        .concat();
        self.put(&wide)?;
        let narrow = [
            &b"PK\x05\x06"[..],
            &[0; 4],
            &self.members.to_le_bytes(),
            &self.members.to_le_bytes(),
            &(bytes as u32).to_le_bytes(),
            &LARGE.to_le_bytes(),
            &[0; 2],
        ]
        .concat();
        self.put(&narrow)
    }
}

/// The fields that both headers of a member have, from its flags to the length of its name.
fn common(sum: u32, name: &str) -> Vec<u8> {
    // Stored, at midnight of 1980-01-01.
    let times: [u16; 4] = [0, 0, 0, 0x21];
    let mut bytes: Vec<u8> = times.iter().flat_map(|half| half.to_le_bytes()).collect();
    bytes.extend(sum.to_le_bytes());
    bytes.extend([LARGE.to_le_bytes(), LARGE.to_le_bytes()].concat());
    bytes.extend((name.len() as u16).to_le_bytes());
    bytes
}

fn extra(words: &[u8]) -> Vec<u8> {
    let mut bytes = vec![1, 0];
    bytes.extend((words.len() as u16).to_le_bytes());
    bytes.extend_from_slice(words);
    bytes
}
