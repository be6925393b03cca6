//! A graph in device memory.
//!
//! Rows and targets are uploaded when the session opens; weights and incoming edges only when a
//! program first needs them, since each of them may double the memory. A symmetric graph's
//! incoming edges are its own rows.

use super::context::Context;
use super::memory::DeviceMemory;
use super::staging::Staging;
use super::stream::{COPY_LIMIT, Stream};
use crate::backend::record::GraphAddresses;
use crate::backend::{BackendError, fit, resident_digest};
use crate::executor::Executor;
use crate::graph::{Csr, Graph};
use crate::program::encoded::GraphNeeds;
use crate::tiles::{TileShape, Tiles};
use crate::units::elapsed_ns;
use seawall_core::abi::tiles::TileTable;
use std::rc::Rc;
use std::time::Instant;

/// Stream and buffers of all uploads.
pub(super) struct Uploader<'a> {
    /// Stream that the copies queue in.
    pub(super) stream: &'a Stream,
    /// Buffers that they go through.
    pub(super) staging: &'a mut Staging,
}

impl Uploader<'_> {
    /// Takes device memory for `bytes` and queues their copy.
    ///
    /// The memory must outlive the copy: wait for the stream, or drop the
    /// memory, which waits too.
    pub(super) fn put(
        &mut self,
        what: &'static str,
        bytes: &[u8],
    ) -> Result<DeviceMemory, BackendError> {
        let memory = DeviceMemory::take(self.stream.context(), what, bytes.len() as u64)?;
        // SAFETY: the memory is as long as `bytes`, and freeing it waits for
        // the copy.
        unsafe { self.staging.upload(self.stream, memory.address(), bytes)? };
        Ok(memory)
    }
}

/// Incoming edges of a directed graph.
#[derive(Debug)]
struct Incoming {
    offsets: DeviceMemory,
    targets: DeviceMemory,
}

/// Incoming edges by tiles.
#[derive(Debug)]
struct ResidentTiles {
    records: DeviceMemory,
    edges: DeviceMemory,
    bases: DeviceMemory,
    rows: DeviceMemory,
    table: TileTable,
    slots: u32,
}

/// A graph in device memory, and its source on the host.
#[derive(Debug)]
pub(super) struct ResidentGraph<'g> {
    graph: &'g Graph,
    /// Digest of the graph on this device, which kernels read.
    digest: DeviceMemory,
    offsets: DeviceMemory,
    targets: DeviceMemory,
    weights: Option<DeviceMemory>,
    incoming: Option<Incoming>,
    /// Weights of the incoming edges of a directed graph.
    incoming_weights: Option<DeviceMemory>,
    tiles: Option<ResidentTiles>,
    upload_ns: u64,
    /// Most edges of a row of either kind; 0 until measured.
    longest_row: u32,
}

impl<'g> ResidentGraph<'g> {
    /// Uploads rows and targets, and the digest of the graph on GPU number `device`.
    pub(super) fn upload(
        graph: &'g Graph,
        device: u32,
        mut uploader: Uploader<'_>,
    ) -> Result<Self, BackendError> {
        let started = Instant::now();
        let offsets = uploader.put(
            "the graph's row offsets",
            bytemuck::cast_slice(graph.offsets()),
        )?;
        let targets = uploader.put("the graph's edges", bytemuck::cast_slice(graph.targets()))?;
        // After the large arrays, so that their placement does not change.
        let digest = resident_digest(graph, Executor::Mega, device);
        let digest = uploader.put("the graph's digest", bytemuck::bytes_of(&digest))?;
        uploader.stream.wait("uploading the graph", COPY_LIMIT)?;
        Ok(Self {
            graph,
            digest,
            offsets,
            targets,
            weights: None,
            incoming: None,
            incoming_weights: None,
            tiles: None,
            upload_ns: elapsed_ns(started),
            longest_row: 0,
        })
    }

    /// Uploads the missing arrays among `needs`.
    ///
    /// # Errors
    /// [`BackendError::MissingGraphArray`] for weights that the graph lacks.
    pub(super) fn complete(
        &mut self,
        needs: GraphNeeds,
        mut uploader: Uploader<'_>,
    ) -> Result<(), BackendError> {
        fit::check_needs(needs, self.graph)?;
        let weights = self.graph.weights().filter(|_| needs.weights.is_some());
        if let Some(weights) = weights.filter(|_| self.weights.is_none()) {
            let started = Instant::now();
            self.weights = Some(uploader.put("the edge weights", bytemuck::cast_slice(weights))?);
            self.finish(&uploader, started)?;
        }
        if needs.incoming && self.incoming.is_none() && !self.graph.is_symmetric() {
            let rows = self.graph.incoming();
            let started = Instant::now();
            self.incoming = Some(Incoming {
                offsets: uploader.put(
                    "the incoming row offsets",
                    bytemuck::cast_slice(rows.offsets()),
                )?,
                targets: uploader
                    .put("the incoming edges", bytemuck::cast_slice(rows.targets()))?,
            });
            self.finish(&uploader, started)?;
        }
        if needs.incoming_weights
            && self.incoming_weights.is_none()
            && !self.graph.is_symmetric()
            && let Some(weights) = self.graph.incoming().weights()
        {
            let started = Instant::now();
            let bytes = bytemuck::cast_slice(weights);
            self.incoming_weights = Some(uploader.put("the weights of incoming edges", bytes)?);
            self.finish(&uploader, started)?;
        }
        Ok(())
    }

    /// Measures the longest row for a program that runs code, once the arrays are complete.
    pub(super) fn measure_rows(&mut self) {
        let incoming = self.incoming.as_ref().map(|_| self.graph.incoming());
        let incoming = incoming.map_or(0, Csr::longest_row);
        self.longest_row = self.graph.outgoing().longest_row().max(incoming);
    }

    /// Makes and uploads incoming edges by tiles of this shape, if that is expected to pay and
    /// there is memory for it; otherwise they are gathered row by row, which takes longer and
    /// makes the same sums. Returns the slots of the largest tile, 0 without tiles.
    pub(super) fn complete_tiles(
        &mut self,
        shape: TileShape,
        mut uploader: Uploader<'_>,
    ) -> Result<u32, BackendError> {
        if self
            .tiles
            .as_ref()
            .is_none_or(|tiles| tiles.slots > shape.slots)
        {
            let started = Instant::now();
            self.tiles = None;
            self.tiles = match Tiles::of(self.graph, shape) {
                Some(tiles) => put_tiles(&tiles, &mut uploader)?,
                None => None,
            };
            self.finish(&uploader, started)?;
        }
        Ok(self.tiles.as_ref().map_or(0, |tiles| tiles.slots))
    }

    /// Frees the memory of the tiles; returns whether there were any.
    pub(super) fn drop_tiles(&mut self) -> bool {
        self.tiles.take().is_some()
    }

    fn finish(&mut self, uploader: &Uploader<'_>, started: Instant) -> Result<(), BackendError> {
        uploader.stream.wait("uploading the graph", COPY_LIMIT)?;
        self.upload_ns = self.upload_ns.saturating_add(elapsed_ns(started));
        Ok(())
    }

    /// The graph on the host.
    pub(super) const fn graph(&self) -> &'g Graph {
        self.graph
    }

    /// Time of all uploads so far.
    pub(super) const fn upload_ns(&self) -> u64 {
        self.upload_ns
    }

    /// Bytes of the graph's arrays, without those by tiles.
    pub(super) fn bytes(&self) -> u64 {
        let rows = self.digest.bytes() + self.offsets.bytes() + self.targets.bytes();
        let weights = self.weights.as_ref().map_or(0, DeviceMemory::bytes);
        let incoming = self.incoming.as_ref();
        let incoming = incoming.map_or(0, |rows| rows.offsets.bytes() + rows.targets.bytes());
        let of_incoming = self.incoming_weights.as_ref();
        rows + weights + incoming + of_incoming.map_or(0, DeviceMemory::bytes)
    }

    /// Bytes of incoming edges by tiles.
    pub(super) fn tiles_bytes(&self) -> u64 {
        self.tiles.as_ref().map_or(0, ResidentTiles::bytes)
    }

    /// The resident arrays of the graph, and their addresses.
    pub(super) fn arrays(&self) -> Vec<(&'g [u32], u64)> {
        let graph = self.graph;
        let mut arrays = vec![
            (graph.offsets(), self.offsets.address()),
            (graph.targets(), self.targets.address()),
        ];
        let weights = graph.weights().zip(self.weights.as_ref());
        arrays.extend(weights.map(|(words, memory)| (words, memory.address())));
        if let Some(incoming) = &self.incoming {
            let rows = graph.incoming();
            arrays.push((rows.offsets(), incoming.offsets.address()));
            arrays.push((rows.targets(), incoming.targets.address()));
            let weights = rows.weights().zip(self.incoming_weights.as_ref());
            arrays.extend(weights.map(|(words, memory)| (words, memory.address())));
        }
        arrays
    }

    /// Addresses of the arrays.
    pub(super) fn addresses(&self) -> GraphAddresses {
        let (offsets, targets) = (self.offsets.address(), self.targets.address());
        let (incoming_offsets, incoming_targets) = match &self.incoming {
            Some(incoming) => (incoming.offsets.address(), incoming.targets.address()),
            None if self.graph.is_symmetric() => (offsets, targets),
            None => (0, 0),
        };
        let weights = self.weights.as_ref().map_or(0, DeviceMemory::address);
        let incoming_weights = if self.graph.is_symmetric() {
            weights
        } else {
            self.incoming_weights
                .as_ref()
                .map_or(0, DeviceMemory::address)
        };
        GraphAddresses {
            offsets,
            targets,
            weights,
            incoming_offsets,
            incoming_targets,
            incoming_weights,
            resident: self.digest.address(),
            tiles: TileTable::default(),
            longest_row: self.longest_row,
        }
    }

    /// The same with the tiles, if there are any.
    pub(super) fn addresses_with_tiles(&self) -> GraphAddresses {
        let tiles = self.tiles.as_ref();
        GraphAddresses {
            tiles: tiles.map_or_else(TileTable::default, ResidentTiles::table),
            ..self.addresses()
        }
    }
}

impl ResidentTiles {
    /// Bytes of all arrays.
    fn bytes(&self) -> u64 {
        let arrays = [&self.records, &self.edges, &self.bases, &self.rows];
        arrays.iter().map(|array| array.bytes()).sum()
    }

    fn table(&self) -> TileTable {
        TileTable {
            records: self.records.address(),
            edges: self.edges.address(),
            bases: self.bases.address(),
            rows: self.rows.address(),
            ..self.table
        }
    }
}

/// Uploads `tiles`; returns `None` if there is no memory for them.
fn put_tiles(
    tiles: &Tiles,
    uploader: &mut Uploader<'_>,
) -> Result<Option<ResidentTiles>, BackendError> {
    let mut put = |words: &[u32]| {
        let bytes = bytemuck::cast_slice(words);
        match uploader.put("the incoming edges by tiles", bytes) {
            Err(BackendError::OutOfMemory { .. }) => Ok(None),
            taken => taken.map(Some),
        }
    };
    let records = put(bytemuck::cast_slice(tiles.records()))?;
    let (edges, bases) = (put(tiles.edges())?, put(tiles.bases())?);
    let rows = put(tiles.rows())?;
    let all = records.zip(edges).zip(bases.zip(rows));
    Ok(all.map(|((records, edges), (bases, rows))| ResidentTiles {
        records,
        edges,
        bases,
        rows,
        table: tiles.table(),
        slots: tiles.slots(),
    }))
}

/// Bytes of the largest array that is uploaded at once, for the staging buffers.
pub(super) fn largest_array(graph: &Graph) -> usize {
    size_of_val(graph.offsets()).max(size_of_val(graph.targets()))
}

/// A context's stream and staging buffers, since every upload needs both.
pub(super) fn lane(
    context: &Rc<Context>,
    largest: usize,
) -> Result<(Stream, Staging), BackendError> {
    Ok((Stream::new(context)?, Staging::new(context, largest)?))
}
