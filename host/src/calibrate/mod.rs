//! What this machine's work costs, and which machine a job belongs on.
//!
//! [`measure`] takes the figures of [`crate::cost`] in about a second and [`store`] keeps
//! them in the user's cache folder. [`sample`] finds out how deep and wide a search is by
//! running a bounded part of it, and [`mod@predict`] turns an analysis, a job and figures
//! into times, [`batch`] for many graphs at once and [`tiles`] for one step of the way.
//! Nothing here opens the machine that a run takes, and nothing here changes a result.

pub mod batch;
pub mod measure;
pub mod predict;
mod probe;
pub mod sample;
pub mod store;
pub mod tiles;

pub use batch::{BatchJob, BatchPrediction, predict_batch};
pub use predict::{Candidate, Prediction, predict};
pub use store::{Calibration, Key};
pub use tiles::{TilePrediction, predict_tiles};
