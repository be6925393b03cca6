//! The entries of a GPU, kernels that a host launches, and those of CPU threads.
//!
//! Every kernel takes the device address of a launch record first. A kernel that stops early leaves
//! a fault record in the control block, which the host reads back, so results are dropped here.

#[cfg(target_arch = "nvptx64")]
pub mod bodies;
#[cfg(seawall_kernels)]
pub mod builtin;
#[cfg(not(target_arch = "nvptx64"))]
pub mod threads;
mod kernels;

#[cfg(target_arch = "nvptx64")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    crate::machine::gpu::trap()
}
