//! What exists for CPU threads alone.

pub mod search;
pub mod fused_bucket;
pub mod rank_chunks;
#[cfg(not(target_arch = "nvptx64"))]
pub mod sequential;
