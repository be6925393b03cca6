//! The persistent kernel: one cooperative launch walks the whole program.
//!
//! No launch, no copy and no wait of the host lies between two waves. The host
//! learns everything from one readback of the control block.

use super::launch::{Asked, Grid, GridShape, Residency};
use super::module::{Entry, Module};
use super::running::Running;
use crate::backend::BackendError;
use std::rc::Rc;

/// The persistent kernel and its shape.
#[derive(Debug)]
pub(super) struct Mega {
    grid: Grid,
}

impl Mega {
    /// Shapes the kernel; fails here when its grid is not co-resident.
    pub(super) fn new(module: &Rc<Module>, asked: Asked) -> Result<Self, BackendError> {
        let grid = Grid::new(module.kernel(Entry::Mega)?, asked, Residency::Cooperative)?;
        Ok(Self { grid })
    }

    /// The grid of the launch.
    pub(super) const fn shape(&self) -> GridShape {
        self.grid.shape()
    }

    /// Queues the run.
    pub(super) fn queue(&self, running: &mut Running<'_>) -> Result<(), BackendError> {
        // SAFETY: the loaded program holds the record and all that it names,
        // and outlives the run.
        unsafe {
            self.grid
                .launch(running.stream(), running.program().record(), &[])?
        };
        running.launched(1);
        Ok(())
    }
}
