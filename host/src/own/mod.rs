//! Waves of other crates on the host: their facts, their code for CPU threads, and their PTX.
//!
//! A program that uses such waves carries their set along ([`ProgramBuilder::use_waves`]), so
//! every session, batch and executor runs it like any other program, and facts and code cannot
//! be of different sets. `docs/own-waves.md` is the guide, `examples/own-wave` a crate to copy.
//!
//! [`ProgramBuilder::use_waves`]: crate::program::ProgramBuilder::use_waves

mod ptx;
mod record;

pub use ptx::PtxError;
#[cfg(feature = "cuda")]
pub(crate) use ptx::{SOURCES, sources_of};
pub use record::FactViolation;
pub(crate) use record::first_violation;
pub use seawall_core::abi::own::Declaration;
pub(crate) use seawall_device::entry::threads::{BUILT_IN, Walk, Walkers};
pub use seawall_device::own::{Array, Facts, Operand, Wave, Waves, Work};

use ptx::Ptx;
use seawall_device::scheduler::sets::With;
use std::path::Path;
use std::sync::Arc;

/// A set of waves of another crate.
#[derive(Clone, Debug)]
pub struct OwnWaves {
    list: &'static [Declaration],
    walkers: Walkers,
    checked: Walkers,
    ptx: Arc<[Ptx]>,
}

impl PartialEq for OwnWaves {
    /// Whether both declare the same waves and have the same PTX.
    fn eq(&self, other: &Self) -> bool {
        self.list == other.list && self.ptx == other.ptx
    }
}

impl OwnWaves {
    /// Returns the set `W`, for CPU threads.
    #[must_use]
    pub fn of<W: Waves>() -> Self {
        Self {
            list: W::LIST,
            walkers: Walkers::of::<With<W>>(),
            checked: Walkers::of::<With<W, record::Notes>>(),
            ptx: Arc::new([]),
        }
    }

    /// Adds the PTX that `cargo xtask build-ptx --crate` wrote for a machine, so that GPUs can
    /// run the set. A GPU takes the newest that it can run.
    ///
    /// # Errors
    /// [`PtxError`] for other text.
    pub fn with_ptx(mut self, text: impl Into<String>) -> Result<Self, PtxError> {
        let mut all = self.ptx.to_vec();
        all.push(Ptx::new(text.into())?);
        self.ptx = all.into();
        Ok(self)
    }

    /// Adds the files of a folder that end in `.ptx`.
    ///
    /// # Errors
    /// [`PtxError`] if the folder cannot be read, or holds none or others.
    pub fn with_ptx_in(self, folder: impl AsRef<Path>) -> Result<Self, PtxError> {
        let texts = ptx::read_all(folder.as_ref())?;
        texts.into_iter().try_fold(self, Self::with_ptx)
    }

    /// The declarations, by number.
    #[must_use]
    pub const fn list(&self) -> &'static [Declaration] {
        self.list
    }

    pub(crate) fn declaration(&self, opcode: u32) -> Option<&'static Declaration> {
        let number = seawall_core::abi::own::own_number(opcode)?;
        self.list.get(number as usize)
    }

    /// The code for CPU threads.
    pub(crate) const fn walkers(&self) -> Walkers {
        self.walkers
    }

    /// The same, with a record of each access.
    pub(crate) const fn checked(&self) -> Walkers {
        self.checked
    }

    /// The newest PTX for a device of this capability.
    #[cfg(feature = "cuda")]
    pub(crate) fn ptx_for(&self, capability: (u32, u32)) -> Option<&Arc<str>> {
        let number = capability.0.saturating_mul(10).saturating_add(capability.1);
        let fitting = self.ptx.iter().filter(|ptx| ptx.capability <= number);
        let newest = fitting.max_by_key(|ptx| ptx.capability)?;
        Some(&newest.text)
    }
}
