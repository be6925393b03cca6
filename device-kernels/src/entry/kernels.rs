//! The kernels of a set of waves.

/// Exports the kernels of a set of waves, when the crate is compiled for a GPU; for other
/// machines it expands to nothing. A crate calls it once, at its root.
///
/// The kernels know every built-in wave and those of the set. `cargo xtask build-ptx
/// --crate PATH` compiles them.
#[macro_export]
macro_rules! kernels {
    ($waves:ty) => {
        #[cfg(target_arch = "nvptx64")]
        const _: () = {
            use $crate::entry::bodies::{self, BatchRecord, LaunchRecord, ServeRecord};
            use $crate::machine::gpu::Device;
            use $crate::scheduler::sets::With;

            /// A whole program; a cooperative launch.
            ///
            /// # Safety
            /// As [`bodies::mega`].
            #[unsafe(no_mangle)]
            unsafe extern "ptx-kernel" fn seawall_own_mega(record: *const LaunchRecord) {
                // SAFETY: the caller keeps this function's contract.
                unsafe { bodies::mega::<With<$waves>>(record) }
            }

            /// One top-level group.
            ///
            /// # Safety
            /// As [`bodies::group`].
            #[unsafe(no_mangle)]
            unsafe extern "ptx-kernel" fn seawall_own_group(
                record: *const LaunchRecord,
                group: u32,
            ) {
                // SAFETY: the caller keeps this function's contract.
                unsafe { bodies::group::<With<$waves>>(record, group) }
            }

            /// One group of a loop's body.
            ///
            /// # Safety
            /// As [`bodies::body`].
            #[unsafe(no_mangle)]
            unsafe extern "ptx-kernel" fn seawall_own_body(
                record: *const LaunchRecord,
                fixpoint: u32,
                group: u32,
                last: u32,
            ) {
                // SAFETY: the caller keeps this function's contract.
                unsafe { bodies::body::<With<$waves>>(record, [fixpoint, group, last]) }
            }

            /// A batch of graphs, one graph a block at a time.
            ///
            /// # Safety
            /// As [`bodies::batch`].
            #[unsafe(no_mangle)]
            unsafe extern "ptx-kernel" fn seawall_own_batch(record: *const BatchRecord) {
                // SAFETY: the caller keeps this function's contract.
                unsafe { bodies::batch::<Device, With<$waves>>(Device {}, record) }
            }

            /// A service whose workers run programs.
            ///
            /// # Safety
            /// As [`bodies::serve`].
            #[unsafe(no_mangle)]
            unsafe extern "ptx-kernel" fn seawall_own_serve(record: *const ServeRecord) {
                // SAFETY: the caller keeps this function's contract.
                unsafe { bodies::serve::<With<$waves>>(record) }
            }
        };
    };
}
