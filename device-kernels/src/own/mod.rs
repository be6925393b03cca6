//! Waves of other crates: the traits of such a crate, and the operands of its waves.
//!
//! A wave is a type that implements [`Wave`]: a name, the [`Facts`] about it and its code.
//! The code is generic over the machine and runs on CPU threads and GPUs alike. A tuple of
//! waves is a set ([`Waves`]); the number of a wave is its place there.
//! [`kernels!`](crate::kernels) exports the kernels of a set, which know every built-in wave
//! too.
//!
//! ```
//! use seawall_device::own::{Facts, Fault, Machine, Operand, Running, Wave};
//!
//! /// `to[i] = from[i] / 2` for every word.
//! pub struct Halve;
//!
//! impl Wave for Halve {
//!     const NAME: &'static str = "Halve";
//!     const FACTS: Facts = Facts::of(&[Operand::First], &[Operand::To]).word_wise();
//!
//!     fn run<M: Machine>(wave: &mut Running<'_, M>) -> Result<(), Fault> {
//!         let (from, to) = (wave.read(Operand::First)?, wave.write(Operand::To)?);
//!         wave.each(to.len(), |item| {
//!             let at = item.index();
//!             item.store(to, at, item.load(from, at) / 2);
//!         });
//!         Ok(())
//!     }
//! }
//!
//! /// The waves of this crate.
//! pub type Mine = (Halve,);
//! ```
//!
//! # Why such waves are sound
//!
//! A wave is safe Rust. It gets registers by operand, and only those that its facts declare, to
//! read, to write or both; any other ends the run as a fault. Each access checks its index.
//! Built-in waves use words as indices unchecked only where built-in waves wrote them, and a
//! declaration cannot claim that (`core::abi::own`). So a wave that is wrong leaves wrong words in
//! the registers that it declares, and nothing else.
//!
//! Code that is outside of items sees nothing that differs from lane to lane: it gets lengths,
//! parameters and handles. Closures over items return nothing and share no state ([`Fn`] and
//! [`Sync`]). So all lanes agree on the next step of a wave, and waves may use operations of a
//! whole warp.

mod machine;
mod register;
mod graph;
mod item;
mod running;
mod set;

pub use graph::{Edge, Rows, Weights};
pub use item::Item;
pub use machine::{Access, How, Machine, Nobody, On, Recorder, Started};
pub use register::{Register, Shared, Source, Target};
pub use running::Running;
pub use seawall_core::abi::control::FaultCode as Fault;
pub use seawall_core::abi::facts::{Array, Facts, Operand, Work};
pub use seawall_core::abi::program::Reduction;
pub use set::{Wave, Waves};
