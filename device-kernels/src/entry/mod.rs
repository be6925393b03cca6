//! The kernels that a host launches.
//!
//! Every kernel takes the device address of a launch record first. A kernel that stops early leaves
//! a fault record in the control block, which the host reads back, so results are dropped here.

pub mod bodies;
#[cfg(seawall_kernels)]
pub mod builtin;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    crate::grid::nvptx::trap()
}
