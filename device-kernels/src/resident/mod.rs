//! Kernels that stay on the machine while work comes to them.

pub mod serve;
pub mod stream;
