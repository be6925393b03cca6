//! Launches in clusters: blocks that read each other's shared memory.
//!
//! For Hopper and later. A cooperative grid in clusters needs the general launch call, and its
//! co-residency is counted in clusters: a cluster lies in one group of multiprocessors, so large
//! clusters leave part of a device unused. Two blocks of a cluster on one multiprocessor would
//! share its one access to memory, so each block requests more than half of the available shared
//! memory.

use super::GridShape;
use super::error::check;
use super::module::Kernel;
use super::stream::Stream;
use crate::backend::BackendError;
use cudarc::driver::sys;
use std::ffi::c_void;

pub(super) use seawall_device::machine::CLUSTER_MAX;

/// Attributes of a cooperative launch in clusters of `cluster` blocks.
fn attributes(cluster: u32) -> [sys::CUlaunchAttribute; 2] {
    // SAFETY: every field of the record is an integer or an array of bytes.
    let mut list: [sys::CUlaunchAttribute; 2] = unsafe { std::mem::zeroed() };
    let [dimension, cooperative] = &mut list;
    dimension.id = sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    dimension.value.clusterDim.x = cluster;
    dimension.value.clusterDim.y = 1;
    dimension.value.clusterDim.z = 1;
    cooperative.id = sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    cooperative.value.cooperative = 1;
    list
}

fn config(
    shape: GridShape,
    shared: u32,
    queue: sys::CUstream,
    attributes: &mut [sys::CUlaunchAttribute],
) -> sys::CUlaunchConfig {
    sys::CUlaunchConfig {
        gridDimX: shape.blocks,
        gridDimY: 1,
        gridDimZ: 1,
        blockDimX: shape.lanes,
        blockDimY: 1,
        blockDimZ: 1,
        sharedMemBytes: shared,
        hStream: queue,
        attrs: attributes.as_mut_ptr(),
        numAttrs: attributes.len() as u32,
    }
}

/// Blocks of a cluster, and the shared memory that keeps each alone on a multiprocessor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cluster {
    /// Blocks, a power of two above 1.
    blocks: u32,
    /// Shared memory that a launch requests beyond the kernel's own, bytes.
    padding: u32,
}

impl Cluster {
    /// Prepares `kernel` for clusters of `blocks`.
    pub(super) fn new(kernel: &Kernel, blocks: u32) -> Result<Self, BackendError> {
        let padding = kernel.padding_to_be_alone()?;
        kernel.allow_extra(padding)?;
        kernel.allow_large_clusters()?;
        Ok(Self { blocks, padding })
    }

    /// Returns the number of clusters of blocks of `lanes` lanes that the device holds at once.
    pub(super) fn resident(self, kernel: &Kernel, lanes: u32) -> Result<u32, BackendError> {
        let shape = GridShape {
            blocks: self.blocks,
            lanes,
        };
        let mut list = attributes(self.blocks);
        // Queried without the cooperative attribute, since only the capacity matters.
        let [dimension, _] = &mut list;
        let asked = config(
            shape,
            self.padding,
            std::ptr::null_mut(),
            std::slice::from_mut(dimension),
        );
        let mut clusters = 0;
        // SAFETY: one valid integer to write to; the kernel lives, and the
        // record and its attributes outlive the call.
        let answer =
            unsafe { sys::cuOccupancyMaxActiveClusters(&raw mut clusters, kernel.raw(), &asked) };
        check("asking how many clusters fit", answer)?;
        Ok(u32::try_from(clusters).unwrap_or(0))
    }

    /// Queues a cooperative launch.
    ///
    /// # Safety
    /// `list` points at live parameters, one for each of the entry's.
    pub(super) unsafe fn launch(
        self,
        (kernel, shape): (&Kernel, GridShape),
        stream: &Stream,
        list: *mut *mut c_void,
    ) -> sys::CUresult {
        let mut attributes = attributes(self.blocks);
        let config = config(shape, self.padding, stream.raw(), &mut attributes);
        // SAFETY: kernel and stream live and belong to one context, the record
        // and its attributes outlive the call; the parameters are the caller's
        // promise.
        unsafe { sys::cuLaunchKernelEx(&config, kernel.raw(), list, std::ptr::null_mut()) }
    }
}
