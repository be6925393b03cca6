//! Costs of this machine, and the choice of the machine for a job.
//!
//! [`measure`] measures the figures of [`crate::cost`] in about a second and [`store`] keeps them
//! in the user's cache folder. [`sample`] estimates the depth and widths of a search by running a
//! bounded part of it. [`mod@predict`] turns an analysis, a job and figures into times, [`groups`]
//! does so for the groups of a program, [`batch`] for many graphs at once and [`tiles`] for the
//! tiles of a ranking. [`tune`] tries which limits and lanes are fastest. Nothing here opens the
//! machine of a run, and nothing here changes a result.

pub mod batch;
pub mod groups;
pub mod measure;
pub mod predict;
mod probe;
pub mod sample;
pub mod store;
pub mod tiles;
pub mod tune;
mod tuning;

pub use batch::{BatchJob, BatchPrediction, predict_batch};
pub use groups::predict_groups;
pub use predict::{Candidate, Prediction, predict};
pub(crate) use predict::{Forecast, time};
pub use store::{Calibration, Key, tuned_settings};
pub use tiles::{TilePrediction, predict_tiles};
pub use tuning::{CpuTuning, GpuTuning, NARROW_NODES_MIN, SearchTuning};
