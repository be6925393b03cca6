//! The images that are measured, and the flash that the planner may take in each.
//!
//! The figures are a promise to firmware at `opt-level = "s"`, on every target.

#[derive(Debug)]
pub(super) struct Image {
    pub(super) name: &'static str,
    /// Most bytes of flash, the caller's tables not counted.
    pub(super) flash_max: u64,
}

/// The images that are linked to be measured.
pub(super) static IMAGES: &[Image] = &[
    Image {
        name: "layers_groups",
        flash_max: 7_680,
    },
    Image {
        name: "everything",
        flash_max: 40 * 1024,
    },
    Image {
        name: "floating",
        flash_max: 9 * 1024,
    },
];
