//! The kernels of built-in waves. They are compiled only if this crate is the one being built:
//! kernels of other crates have other names.

use super::bodies;
use crate::machine::Grid;
use crate::machine::gpu::{CompactDevice, Device};
use crate::multi::{Copies, Multi, join, kinds, multi_of};
use crate::resident::stream::{Stream, stream};
use crate::scheduler as run;
use crate::scheduler::sets::{All, CodeAlone, Linked, Nothing, Ready, Rounds, Searches};
use crate::tables::launch::Launch;
use seawall_core::abi::batch::BatchRecord;
use seawall_core::abi::multi::{JoinRecord, MultiRecord};
use seawall_core::abi::program::LaunchRecord;
use seawall_core::abi::serve::ServeRecord;
use seawall_core::abi::stream::StreamRecord;

crate::export_kernels! {
    /// The whole program, every family of opcodes except code; a cooperative launch.
    seawall_mega(record: *const LaunchRecord) bodies::mega::<Ready>(record);
    /// The whole program when it only searches; a cooperative launch.
    seawall_mega_search(record: *const LaunchRecord) bodies::mega::<Searches>(record);
    /// The whole program when it finds paths, core numbers or sets of sources; a cooperative
    /// launch.
    seawall_mega_rounds(record: *const LaunchRecord) bodies::mega::<Rounds>(record);
    /// The whole program when it only runs code; a cooperative launch.
    seawall_mega_code(record: *const LaunchRecord) bodies::mega::<CodeAlone>(record);
    /// The same program, with machine code of its waves that the host links to it; a cooperative
    /// launch.
    seawall_mega_linked(record: *const LaunchRecord) bodies::mega::<Linked>(record);
    /// The whole program, every family of opcodes; a cooperative launch.
    seawall_mega_all(record: *const LaunchRecord) bodies::mega::<All>(record);
    /// One group of a program that only runs code.
    seawall_group_code(record: *const LaunchRecord, group: u32)
        bodies::group::<CodeAlone>(record, group);
    /// One group of the body of a loop of such a program.
    seawall_body_code(record: *const LaunchRecord, fixpoint: u32, group: u32, last: u32)
        bodies::body::<CodeAlone>(record, [fixpoint, group, last]);
    /// One group of a program that runs code.
    seawall_group_all(record: *const LaunchRecord, group: u32)
        bodies::group::<All>(record, group);
    /// Counts an iteration of a loop on a register and decides whether another follows; one block.
    seawall_again(record: *const LaunchRecord, wave: u32)
        _ = run::again(Device {}, Launch::new(record), wave);
    /// One group of the body of a loop that runs code.
    seawall_body_all(record: *const LaunchRecord, fixpoint: u32, group: u32, last: u32)
        bodies::body::<All>(record, [fixpoint, group, last]);
    /// One group of a program that only runs code, with machine code that the host links to it.
    seawall_group_linked(record: *const LaunchRecord, group: u32)
        bodies::group::<Linked>(record, group);
    /// One group of the body of a loop of such a program.
    seawall_body_linked(record: *const LaunchRecord, fixpoint: u32, group: u32, last: u32)
        bodies::body::<Linked>(record, [fixpoint, group, last]);
    /// One top-level group.
    seawall_group(record: *const LaunchRecord, group: u32)
        bodies::group::<Ready>(record, group);
    /// Opens a loop; one block.
    seawall_begin(record: *const LaunchRecord, fixpoint: u32)
        _ = run::begin_loop(Device {}, Launch::new(record), fixpoint);
    /// One group of a loop's body.
    seawall_body(record: *const LaunchRecord, fixpoint: u32, group: u32, last: u32)
        bodies::body::<Ready>(record, [fixpoint, group, last]);
    /// Sets the condition on which a CUDA graph's loop continues; one block. The handle, in two
    /// words with the low one first, is that of the node whose body launches this.
    seawall_while(record: *const LaunchRecord, fixpoint: u32, handle_low: u32, handle_high: u32)
        go_on(Launch::new(record), fixpoint, u64::from(handle_high) << 32 | u64::from(handle_low));
    /// Grid barriers and nothing else; a cooperative launch.
    seawall_barriers(record: *const LaunchRecord, count: u32)
        _ = run::cross_barriers(Device {}, Launch::new(record), count);
    /// A batch of graphs, every family of opcodes; each block runs one graph at a time.
    seawall_batch(record: *const BatchRecord)
        bodies::batch::<Device, Ready>(Device {}, record);
    /// A batch of graphs of which some run code, one graph a block at a time.
    seawall_batch_all(record: *const BatchRecord)
        bodies::batch::<Device, All>(Device {}, record);
    /// A batch of graphs whose programs only run code, with machine code of their waves that the
    /// host links to it, one graph a block at a time.
    seawall_batch_linked(record: *const BatchRecord)
        bodies::batch::<Device, Linked>(Device {}, record);
    /// A batch of graphs whose programs only search, in small blocks.
    seawall_batch_search(record: *const BatchRecord)
        bodies::batch::<CompactDevice, Searches>(CompactDevice {}, record);
    /// A service: dispatchers, a housekeeper and workers that stay until a host ends them.
    seawall_serve(record: *const ServeRecord) bodies::serve::<Nothing>(record);
    /// A service whose workers run programs too.
    seawall_serve_all(record: *const ServeRecord) bodies::serve::<All>(record);
    /// A service whose workers run programs that only run code, with machine code that the host
    /// links to it.
    seawall_serve_linked(record: *const ServeRecord) bodies::serve::<Linked>(record);
    /// A stream of edges through memory of the host, until the host ends it. All blocks must be
    /// resident at once.
    seawall_stream(record: *const StreamRecord) stream(Device {}, Stream::new(record));
    /// One device's part of a search on several; a cooperative launch,
    /// beside those of the other devices.
    seawall_multi_levels(record: *const MultiRecord)
        multi_of::<_, { kinds::LEVELS }>(Device {}, Multi::new(record));
    /// One device's part of a run of shortest paths on several; the same.
    seawall_multi_lengths(record: *const MultiRecord)
        multi_of::<_, { kinds::LENGTHS }>(Device {}, Multi::new(record));
    /// One device's part of a ranking on several; the same.
    seawall_multi_ranks(record: *const MultiRecord)
        multi_of::<_, { kinds::RANKS }>(Device {}, Multi::new(record));
    /// One device's part of a run of components on several; the same.
    seawall_multi_components(record: *const MultiRecord)
        multi_of::<_, { kinds::COMPONENTS }>(Device {}, Multi::new(record));
    /// One device's part of a run of core numbers on several; the same.
    seawall_multi_cores(record: *const MultiRecord)
        multi_of::<_, { kinds::CORES }>(Device {}, Multi::new(record));
    /// Makes copies of an array one that devices joined values to: one device's part.
    seawall_join(record: *const JoinRecord) join(Device {}, Copies::new(record));
}

/// Tells the node of `handle` whether the loop continues.
///
/// # Safety
/// The handle must be that of a live node.
#[inline(always)]
unsafe fn go_on(launch: Launch, fixpoint: u32, handle: u64) {
    let goes_on = run::loop_goes_on(Device {}, launch, fixpoint);
    if (Device {}).lane() == 0 {
        // SAFETY: by this function's contract.
        unsafe { cudaGraphSetConditional(handle, u32::from(goes_on)) };
    }
}

// Kernels call this function and do not define it: drivers from CUDA 12.3 on link it when
// they compile the PTX.
#[allow(non_snake_case)]
unsafe extern "C" {
    /// Sets the condition of a conditional node for its next decision.
    fn cudaGraphSetConditional(handle: u64, value: u32);
}
