//! The kernel of services on threads, one for each block.

use super::lines;
use super::stay::stay;
use crate::backend::code::interpreted;
use crate::backend::record::GraphAddresses;
use crate::backend::serve::{ServeAddresses, Serving, Started};
use crate::backend::served::{Around, Space};
use crate::backend::{BackendError, resident_digest};
use crate::executor::Executor;
use crate::graph::Graph;
use crate::own::{BUILT_IN, OwnWaves};
use seawall_core::abi::ring::ControlBlock;
use seawall_device::resident::serve::{Serve, scratch_words};

/// Runs the kernel that GPUs run, and returns when the service ends.
///
/// # Errors
/// [`BackendError::Threads`] if the system starts no more, and as for loading each program;
/// `started` was not called then.
pub(crate) fn run(
    serving: &Serving<'_>,
    started: impl FnOnce(Started) + Send,
) -> Result<(), BackendError> {
    let mut own = vec![0_u32; serving.own_words() as usize];
    let control = size_of::<ControlBlock>() / 4;
    for (at, word) in (0..).zip(&mut own[..control]) {
        let ordered = serving.ring.get(at);
        *word = ordered.map_or(0, |word| word.load(std::sync::atomic::Ordering::Relaxed));
    }
    let stride = scratch_words(serving.graph.nodes()).next_multiple_of(2);
    // Pairs of words, so that they are aligned.
    let pairs = stride as usize / 2 * serving.workers as usize;
    let mut scratch = vec![0_u64; pairs];
    let space = Space::new(serving.programs, serving.graph)?;
    let walk = space.own().map_or(BUILT_IN, OwnWaves::walkers).serve;
    let digest = resident_digest(serving.graph, Executor::Cpu, 0);
    let graph = addresses(serving.graph, &digest);
    let bytes = space.stride() * u64::from(serving.workers);
    let mut memory = lines("the programs of a service", bytes)?;
    let base = memory.as_mut_ptr().expose_provenance() as u64;
    let around = Around {
        graph: serving.graph,
        addresses: graph,
        time_budget_ns: serving.slot_budget_ns,
        is_linked: false,
    };
    for worker in 0..u64::from(serving.workers) {
        let start = worker * space.stride();
        let image = space.image(base + start, &around);
        let to = bytemuck::cast_slice_mut::<_, u8>(&mut memory);
        to[start as usize..start as usize + image.len()].copy_from_slice(&image);
    }
    let programs = space.table(base, serving.workers);
    let record = serving.record(&ServeAddresses {
        host: serving.ring.start().expose_provenance() as u64,
        posts: serving.posts.start().expose_provenance() as u64,
        device: own.as_mut_ptr().expose_provenance() as u64,
        scratch: scratch.as_mut_ptr().expose_provenance() as u64,
        scratch_stride: stride * 4,
        programs: programs.as_ptr().expose_provenance() as u64,
        graph,
    });
    let blocks = serving.dispatchers + 1 + serving.workers;
    let address = (&raw const record).expose_provenance();
    started(Started {
        name: "blocks on threads".to_owned(),
        workers: serving.workers,
        code: interpreted(
            space.programs().map(|(program, _)| program),
            "blocks on threads interpret",
        ),
    });
    stay(blocks, |grid| {
        // SAFETY: the record and all that it points to outlive the blocks, with the lengths that
        // its sizes give; hosts use the ring and the posts as atomics.
        let served = unsafe { Serve::new(std::ptr::with_exposed_provenance(address)) };
        walk(grid, served);
    })
}

/// Addresses of all arrays of a graph that searches and programs read.
fn addresses(graph: &Graph, digest: &u64) -> GraphAddresses {
    let (rows, incoming) = (graph.outgoing(), graph.incoming());
    let address = |words: &[u32]| words.as_ptr().expose_provenance() as u64;
    GraphAddresses {
        offsets: address(rows.offsets()),
        targets: address(rows.targets()),
        weights: graph.weights().map_or(0, address),
        incoming_offsets: address(incoming.offsets()),
        incoming_targets: address(incoming.targets()),
        incoming_weights: incoming.weights().map_or(0, address),
        resident: std::ptr::from_ref(digest).expose_provenance() as u64,
        ..GraphAddresses::default()
    }
}
