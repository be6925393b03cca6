//! What work costs on this machine, and which machine a job belongs on.
//!
//! [`costs`] holds the figures, [`measure`] takes them in about a second and
//! [`store`] keeps them in the user's cache folder. [`job`] describes what is
//! to be done, [`sample`] finds out how deep and wide a search is by running a
//! bounded part of it, and [`mod@predict`] turns both into times,
//! [`batch`] for many graphs at once and [`tiles`] for one step of the way. Nothing here
//! opens the machine that a run takes, and nothing here changes a result.

pub mod batch;
pub mod costs;
pub mod job;
pub mod measure;
pub mod predict;
mod probe;
pub mod sample;
pub mod store;
pub mod tiles;

pub use batch::{BatchJob, BatchPrediction, predict_batch};
pub use costs::{Costs, CpuCosts, GpuCosts, LevelCost, MachineCosts};
pub use job::{Job, Tally};
pub use predict::{Machine, Prediction, predict};
pub use store::{Calibration, Key};
pub use tiles::{TilePrediction, predict_tiles};
