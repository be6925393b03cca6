//! The kernels of a set of waves.

/// Exports kernels whose bodies are those of [`bodies`](crate::entry::bodies). All have one
/// contract: the record and what it points to are as the body asks, and the blocks of a
/// cooperative launch are co-resident.
#[doc(hidden)]
#[macro_export]
macro_rules! export_kernels {
    ($($(#[$doc:meta])* $name:ident($($of:ident: $type:ty),*) $body:expr;)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// The record must be as the kernel's body asks, and all blocks of a cooperative launch
        /// co-resident.
        #[unsafe(no_mangle)]
        pub unsafe extern "ptx-kernel" fn $name($($of: $type),*) {
            // SAFETY: the caller keeps this function's contract.
            unsafe { $body }
        }
    )*};
}

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

            $crate::export_kernels! {
                /// A whole program; a cooperative launch.
                seawall_own_mega(record: *const LaunchRecord)
                    bodies::mega::<With<$waves>>(record);
                /// One top-level group.
                seawall_own_group(record: *const LaunchRecord, group: u32)
                    bodies::group::<With<$waves>>(record, group);
                /// One group of a loop's body.
                seawall_own_body(record: *const LaunchRecord, fixpoint: u32, group: u32, last: u32)
                    bodies::body::<With<$waves>>(record, [fixpoint, group, last]);
                /// A batch of graphs, one graph a block at a time.
                seawall_own_batch(record: *const BatchRecord)
                    bodies::batch::<Device, With<$waves>>(Device {}, record);
                /// A service whose workers run programs.
                seawall_own_serve(record: *const ServeRecord)
                    bodies::serve::<With<$waves>>(record);
            }
        };
    };
}
