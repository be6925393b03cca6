//! Options that replace the weights of a graph.

use clap::Args;
use seawall::graph::WeightChoice;
use seawall::run::RunRequest;

use super::CliError;

#[derive(Debug, Args)]
#[command(next_help_heading = crate::reading::READING)]
pub(super) struct WeightArgs {
    /// Give every edge the weight 1; weights in the file are not read.
    #[arg(long, conflicts_with = "scale_weights", hide_short_help = true)]
    unit_weights: bool,
    /// Multiply the weights by X, such as 1000 or 0.01, and round them to whole numbers, halves to
    /// the even one.
    #[arg(long, value_name = "X", value_parser = factor, hide_short_help = true)]
    scale_weights: Option<f64>,
}

fn factor(text: &str) -> Result<f64, String> {
    let factor = text.parse().ok();
    factor
        .filter(|factor: &f64| *factor > 0.0 && factor.is_finite())
        .ok_or_else(|| "expected a number above 0, at most 1.7e308".to_owned())
}

impl WeightArgs {
    /// The requested weights, if they are not the graph's own.
    pub(super) fn choice(&self) -> WeightChoice {
        match (self.unit_weights, self.scale_weights) {
            (true, _) => WeightChoice::Unit,
            (_, Some(factor)) => WeightChoice::Scaled(factor),
            _ => WeightChoice::Given,
        }
    }

    /// Returns the weights to load for `request`. Rankings use those of a file, but draw none.
    pub(super) fn choice_for(&self, request: &RunRequest) -> WeightChoice {
        if request.reads_weights() {
            return self.choice();
        }
        match self.choice() {
            _ if !request.analysis.facts().follows_weights => WeightChoice::Ignored,
            WeightChoice::Given => WeightChoice::OfFile,
            // Weights of 1 do not count as weights.
            WeightChoice::Unit => WeightChoice::Ignored,
            choice => choice,
        }
    }

    pub(super) fn check_for(&self, request: &RunRequest) -> Result<(), CliError> {
        let option = match self.choice() {
            WeightChoice::Unit => "--unit-weights",
            WeightChoice::Scaled(_) => "--scale-weights",
            _ => return Ok(()),
        };
        if request.reads_weights() || request.analysis.facts().follows_weights {
            return Ok(());
        }
        let analysis = request.analysis;
        Err(CliError::WeightsUnread { option, analysis })
    }
}
