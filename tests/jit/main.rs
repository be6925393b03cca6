//! Machine code of waves equals the interpreter of kernels and the plain interpreter of the tests.

#[path = "../host/drawn.rs"]
mod drawn;
mod programs;
mod reports;
