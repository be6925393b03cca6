//! Words about GPUs that hold with and without a driver.
//!
//! The CUDA backend and its stand-in, which a build without the feature `cuda` gets, share
//! these types, so that nothing else asks which of the two is there.

use super::{DeviceInfo, RunLimits};

/// How [`Executor::Graph`](crate::executor::Executor::Graph) runs loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LoopNodes {
    /// As conditional `while` nodes: one launch and one wait for a whole program.
    /// Needs a driver for CUDA 12.3 or later.
    Conditional,
    /// Unrolled in chunks of iterations; the host looks after each chunk whether the
    /// loop has ended.
    Unrolled,
}

/// How to open a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CudaOptions {
    /// Number of the device, as [`probe`](super::cuda::probe) lists it.
    pub device: u32,
    /// Blocks of a grid; nothing fills each multiprocessor with 1024 lanes.
    pub blocks: Option<u32>,
    /// Lanes of a block, a multiple of 32; nothing takes as many as the kernel
    /// allows, at most 1024.
    pub lanes: Option<u32>,
    /// Most blocks of a cluster, a power of two up to 16, of which 1 means
    /// none; nothing lets graphs of low degree have clusters where the device
    /// does. Only programs that do nothing but search run in clusters.
    pub cluster: Option<u32>,
    /// Limits of each run.
    pub limits: RunLimits,
    /// Device memory that the session may take in all, bytes; nothing leaves
    /// it to what is free.
    pub budget_bytes: Option<u64>,
    /// Whether programs that gather over incoming edges do so by tiles of rows;
    /// nothing leaves it to the graph. The sums are the same, bit for bit. Tiles of
    /// 134 M edges take 0.37 to 0.44 s to make with 16 threads and pay from about 600
    /// iterations on; a choice of machine says no for less.
    pub tiles: Option<bool>,
    /// How [`Executor::Graph`](crate::executor::Executor::Graph) runs loops; nothing takes conditional nodes where the
    /// driver has them. Results are the same.
    pub loops: Option<LoopNodes>,
}

/// A CUDA device as its driver describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceLimits {
    /// Number of the device, as `--device` takes it.
    pub ordinal: u32,
    /// Name, capability, multiprocessors and memory.
    pub info: DeviceInfo,
    /// CUDA version that the driver supports, 1000 × major + 10 × minor.
    pub driver_version: u32,
    /// Whether a kernel may wait for all of its blocks.
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
    /// Shared memory that a block may have when its kernel opts in, bytes.
    pub shared_block_optin_bytes: u32,
    /// Shared memory of a multiprocessor, bytes.
    pub shared_unit_bytes: u32,
    /// Second-level cache, bytes.
    pub cache_bytes: u32,
    /// Whether the system ends long kernels on this device.
    pub kernel_timeout: bool,
}

impl DeviceLimits {
    /// The driver's CUDA version as people write it: `13.0`.
    #[must_use]
    pub fn driver_text(&self) -> String {
        version_text(self.driver_version)
    }

    /// Whether CUDA graphs may hold loops, which drivers from CUDA 12.3 on allow.
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

/// A CUDA version number as people write it.
pub(super) fn version_text(version: u32) -> String {
    format!("{}.{}", version / 1000, version % 1000 / 10)
}

#[cfg(test)]
mod tests {
    use super::version_text;

    #[test]
    fn versions_read_as_people_write_them() {
        assert_eq!(version_text(12_000), "12.0");
        assert_eq!(version_text(13_020), "13.2");
        assert_eq!(version_text(11_080), "11.8");
    }
}
