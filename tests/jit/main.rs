//! Machine code of waves equals the interpreter of kernels and the plain interpreter of the tests.

#[expect(dead_code, reason = "these tests draw graphs and waves only")]
#[path = "../host/drawn.rs"]
mod drawn;
mod batches;
mod command;
mod limits;
mod programs;
mod ptx;
mod reports;
mod services;
