//! The build's tables: one PTX file per machine, and the launch bounds of each kernel.
//!
//! These are the only tables to edit when a machine or a kernel is added.

use std::path::PathBuf;

use crate::workspace;

pub(crate) struct Target {
    /// Compute capability times ten, as `sm_70` writes it.
    pub(crate) capability: u32,
    /// PTX ISA version times ten. It fixes the oldest driver that loads the file.
    pub(crate) isa: u32,
}

/// The machines served: the oldest supported, and Hopper for its clusters.
pub(crate) const TARGETS: &[Target] = &[
    Target {
        capability: 70,
        isa: 70,
    },
    Target {
        capability: 90,
        isa: 80,
    },
];

impl Target {
    /// The architecture's name, `sm_70`.
    pub(crate) fn cpu(&self) -> String {
        format!("sm_{}", self.capability)
    }

    /// The file for readers, which is not committed.
    pub(crate) fn text_path(&self) -> PathBuf {
        workspace::target("ptx").join(format!("seawall.{}.ptx", self.cpu()))
    }
}

/// Launch bounds of a kernel, to which the assembler fits registers.
pub(crate) struct Bounds {
    /// The exported name.
    pub(crate) kernel: &'static str,
    /// Most lanes in a block (`.maxntid`).
    pub(crate) lanes: u32,
    /// Blocks that must fit one multiprocessor (`.minnctapersm`).
    pub(crate) blocks: u32,
}

/// Launch bounds by kernel. A kernel that is not listed gets none.
pub(crate) const BOUNDS: &[Bounds] = &[
    full_block("seawall_mega"),
    full_block("seawall_mega_search"),
    full_block("seawall_mega_rounds"),
    full_block("seawall_mega_code"),
    full_block("seawall_mega_linked"),
    full_block("seawall_mega_all"),
    full_block("seawall_group_code"),
    full_block("seawall_body_code"),
    full_block("seawall_group_all"),
    full_block("seawall_body_all"),
    full_block("seawall_group_linked"),
    full_block("seawall_body_linked"),
    full_block("seawall_batch_all"),
    full_block("seawall_batch_linked"),
    full_block("seawall_group"),
    full_block("seawall_body"),
    full_block("seawall_barriers"),
    full_block("seawall_join"),
    full_block("seawall_multi_levels"),
    full_block("seawall_multi_lengths"),
    full_block("seawall_multi_ranks"),
    full_block("seawall_multi_components"),
    full_block("seawall_multi_cores"),
    full_block("seawall_batch"),
    service("seawall_serve"),
    service("seawall_serve_all"),
    service("seawall_serve_linked"),
    service("seawall_stream"),
    Bounds {
        kernel: "seawall_batch_search",
        lanes: 128,
        blocks: 8,
    },
];

/// Launch bounds of the kernels of a crate with custom waves.
pub(crate) const OWN_BOUNDS: &[Bounds] = &[
    full_block("seawall_own_mega"),
    full_block("seawall_own_group"),
    full_block("seawall_own_body"),
    full_block("seawall_own_batch"),
    service("seawall_own_serve"),
];

/// The kernels that the host has compiled for smaller blocks too, and the lanes of
/// those; `host/src/backend/cuda/bound.rs` does it.
pub(crate) const PERSISTENT: [&str; 3] =
    ["seawall_mega", "seawall_mega_search", "seawall_mega_rounds"];
pub(crate) const SMALLER_BLOCKS: [u32; 3] = [256, 512, 640];

/// Machines whose code is made in advance, compute capability times ten; each serves
/// later ones of its major version.
const MACHINES: [u32; 4] = [80, 90, 100, 120];

/// Largest block that kernels are written for.
const LANES_MAX: u32 = 1024;

/// The kernels that are made in advance, each with the lanes of a run's default blocks.
const USUAL_BLOCKS: [(&str, &[u32]); 7] = [
    ("seawall_mega", &[640, LANES_MAX]),
    ("seawall_mega_search", &[256, 640, LANES_MAX]),
    ("seawall_mega_rounds", &[256, 640]),
    ("seawall_mega_code", &[512]),
    ("seawall_mega_all", &[LANES_MAX]),
    ("seawall_batch", &[LANES_MAX]),
    ("seawall_batch_search", &[LANES_MAX]),
];

/// A kernel whose machine code is made in advance.
pub(crate) struct Precompiled {
    /// Compute capability times ten.
    pub(crate) capability: u32,
    /// The exported name.
    pub(crate) kernel: &'static str,
    /// Lanes of the largest block; the PTX as it is written where they are 1024.
    pub(crate) lanes: u32,
}

/// Every kernel whose machine code is made in advance.
pub(crate) fn precompiled() -> Vec<Precompiled> {
    let kernels = USUAL_BLOCKS
        .into_iter()
        .flat_map(|(kernel, blocks)| blocks.iter().map(move |&lanes| (kernel, lanes)));
    let kernels: Vec<_> = kernels.collect();
    MACHINES
        .into_iter()
        .flat_map(|capability| {
            kernels.iter().map(move |&(kernel, lanes)| Precompiled {
                capability,
                kernel,
                lanes,
            })
        })
        .filter(|made| !is_left_out(made))
        .collect()
}

/// Whether the driver compiles a kernel anyway, so that the program stays below 10 MB: batches on
/// the machines with the largest code, batches that do more than search on all machines except one,
/// and on the newest components of rich graphs and programs of code beside other waves.
fn is_left_out(made: &Precompiled) -> bool {
    match made.kernel {
        "seawall_batch" => made.capability != 90,
        "seawall_batch_search" => made.capability >= 100,
        "seawall_mega" => made.capability == 120 && made.lanes != LANES_MAX,
        "seawall_mega_all" => made.capability == 120,
        _ => false,
    }
}

impl Precompiled {
    /// Returns the newest of `texts`, which are listed oldest first, that the machine runs.
    pub(crate) fn text<'a>(&self, texts: &'a [(&Target, String)]) -> &'a str {
        let newest_first = texts.iter().rev();
        let mut served = newest_first.filter(|(target, _)| target.capability <= self.capability);
        served.next().map_or("", |(_, text)| text.as_str())
    }
}

/// One block of 1024 lanes per multiprocessor: at most 64 registers per lane.
const fn service(kernel: &'static str) -> Bounds {
    Bounds {
        kernel,
        lanes: 512,
        blocks: 1,
    }
}

const fn full_block(kernel: &'static str) -> Bounds {
    Bounds {
        kernel,
        lanes: 1024,
        blocks: 1,
    }
}
