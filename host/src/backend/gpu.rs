//! GPU types that exist with and without a driver.
//!
//! The CUDA backend and its replacement in builds without the feature `cuda` share these types, so
//! that other modules need not distinguish the two.

use super::lanes::LaneTable;
use super::{DeviceInfo, RunLimits};
use crate::executor::{Jit, Machine};

/// Implementation of loops in [`Executor::Graph`](crate::executor::Executor::Graph).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LoopNodes {
    /// As conditional `while` nodes: one launch and one wait for a whole program.
    /// Needs a driver for CUDA 12.3 or later.
    Conditional,
    /// Unrolled in chunks of iterations; after each chunk the host checks whether the loop has
    /// ended.
    Unrolled,
}

/// Options of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CudaOptions {
    /// Number of the device, as [`probe`](super::cuda::probe) lists it.
    pub device: u32,
    /// Blocks of a grid; `None` fills each multiprocessor with 1024 lanes.
    pub blocks: Option<u32>,
    /// Lanes of a block, a multiple of 32; `None` takes as many as the kernel allows, at most
    /// 1024.
    pub lanes: Option<u32>,
    /// Most blocks of a cluster, a power of two up to 16; 1 disables clusters. `None` uses
    /// clusters for graphs of low degree on devices that support them. Only programs that do
    /// nothing but search run in clusters.
    pub cluster: Option<u32>,
    /// Lanes of a block of the persistent kernel by graph and work, if none of these three is
    /// given.
    pub lane_table: LaneTable,
    /// Limits of each run.
    pub limits: RunLimits,
    /// Whether waves of code become machine code.
    pub jit: Jit,
    /// Most device memory that the session may take, bytes; `None` allows all free memory.
    pub budget_bytes: Option<u64>,
    /// Whether programs that gather over incoming edges use tiles of rows; `None` decides by the
    /// graph. The sums are the same, bit for bit. Tiles of 134 M edges take 0.37 to 0.44 s to make
    /// with 16 threads and pay from about 600 iterations on; a choice of machine disables them for
    /// fewer.
    pub tiles: Option<bool>,
    /// Implementation of loops in [`Executor::Graph`](crate::executor::Executor::Graph); `None`
    /// takes conditional nodes where the driver supports them. Results are the same.
    pub loops: Option<LoopNodes>,
    /// Whether [`Executor::Launches`](crate::executor::Executor::Launches) uploads the graph before
    /// every wave and reads the program's memory back after it, as baseline host loops do.
    pub baseline: bool,
}

impl CudaOptions {
    /// Those of `machine`.
    pub(crate) fn of(machine: &Machine) -> Self {
        Self {
            device: machine.device,
            limits: RunLimits::of(machine),
            jit: machine.jit,
            budget_bytes: machine.budget_bytes,
            ..Self::default()
        }
    }
}

/// A CUDA device as described by its driver.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceLimits {
    /// Number of the device, for `--device`.
    pub ordinal: u32,
    /// Name, capability, multiprocessors and memory.
    pub info: DeviceInfo,
    /// CUDA version that the driver supports, 1000 × major + 10 × minor.
    pub driver_version: u32,
    /// Whether the device supports cooperative launches, in which a kernel waits for all of its
    /// blocks.
    pub cooperative_launch: bool,
    /// Lanes of a warp.
    pub warp_lanes: u32,
    /// Most lanes of a block.
    pub lanes_max: u32,
    /// Most resident lanes of a multiprocessor.
    pub lanes_per_unit: u32,
    /// Most resident blocks of a multiprocessor.
    pub blocks_per_unit: u32,
    /// Shared memory that a block may have without opting in, bytes.
    pub shared_block_bytes: u32,
    /// Shared memory that a block may have if its kernel opts in, bytes.
    pub shared_block_optin_bytes: u32,
    /// Shared memory of a multiprocessor, bytes.
    pub shared_unit_bytes: u32,
    /// Second-level cache, bytes.
    pub cache_bytes: u32,
    /// Whether the system kills long kernels on this device.
    pub kernel_timeout: bool,
}

impl DeviceLimits {
    /// Returns the driver's CUDA version in the usual form: `13.0`.
    #[must_use]
    pub fn driver_text(&self) -> String {
        version_text(self.driver_version)
    }

    /// Returns whether CUDA graphs may hold loops, which requires CUDA 12.3.
    #[must_use]
    pub const fn conditional_nodes(&self) -> bool {
        self.driver_version >= 12_030
    }
}

/// Blocks of a grid and lanes of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GridShape {
    /// Blocks of the grid.
    pub blocks: u32,
    /// Lanes of a block, a multiple of 32.
    pub lanes: u32,
}

/// Formats a CUDA version number in the usual form.
pub(super) fn version_text(version: u32) -> String {
    format!("{}.{}", version / 1000, version % 1000 / 10)
}

#[cfg(test)]
mod tests {
    use super::version_text;

    #[test]
    fn versions_have_the_usual_form() {
        assert_eq!(version_text(12_000), "12.0");
        assert_eq!(version_text(13_020), "13.2");
        assert_eq!(version_text(11_080), "11.8");
    }
}
