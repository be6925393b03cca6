//! Nodes counted by value, in bars over an axis that suits the values.
//!
//! Values that crowd at the low end of a wide range, as ranks and triangles do,
//! would be one bar on an even axis. They get a logarithmic one.

use seawall::analysis::{Bars, Values};
use seawall::outcome::{Column, RunOutcome};
use seawall::units::Count;

/// Most bars of a picture; more values share bars.
pub(super) const BARS_MAX: u64 = 160;
/// Ratio of two bars from which on the lower one is hardly seen.
const HIDDEN: u64 = 100;
/// Bars of a logarithmic axis for ranks.
const LOG_BARS: u64 = 80;
/// Bars from which on an even axis has ticks in the place of a label for each bar.
const MANY_BARS: u64 = 13;
/// Most steps between the ticks of an axis of values.
const TICKS_MAX: u64 = 8;
/// Ratio of the largest to the smallest value above zero from which on an axis
/// may be logarithmic.
const WIDE: f64 = 32.0;

/// Scale of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scale {
    Even,
    Logarithmic,
}

/// Bars over a range of values.
#[derive(Debug, PartialEq)]
pub(super) struct Histogram {
    pub(super) bars: Vec<Bar>,
    pub(super) scale: Scale,
    /// Round values along an even axis with many bars; without them bars have their labels.
    pub(super) ticks: Vec<Tick>,
}

/// A round value on the axis.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    /// Its place, in bars from the left.
    pub(super) at: f64,
    pub(super) label: String,
}

/// Nodes whose values lie in one part of the range.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Bar {
    pub(super) label: String,
    pub(super) nodes: u64,
}

impl Histogram {
    pub(super) fn of(outcome: &RunOutcome) -> Self {
        let analysis = outcome.analysis.definition();
        let bars = analysis.picture(&outcome.values).bars;
        let values = analysis.facts().values;
        match &outcome.values {
            Column::U32(labels) if bars == Bars::Groups => Self::sizes(labels),
            Column::U32(words) => {
                let has_all = !matches!(values, Values::NumbersOfReached | Values::NodesOfReached);
                let reached = words.iter().copied();
                let reached = reached.filter(|word| has_all || *word != Column::UNREACHED);
                Self::spread(bars, reached.map(u64::from))
            }
            Column::U64(words) => {
                let reached = words.iter().copied().filter(|word| *word != u64::MAX);
                Self::spread(bars, reached)
            }
            Column::I64(values) => {
                let reached = values.iter().filter(|value| **value != i64::MAX);
                Self::real(reached.map(|value| *value as f64))
            }
            Column::F32(values) => Self::real(values.iter().copied().map(f64::from)),
            Column::Sets(sets) => Self::spread(bars, sets.counts().into_iter().map(u64::from)),
            _ => Self::spread(bars, std::iter::empty()),
        }
    }

    /// Whole values in bars by `bars`.
    fn spread(bars: Bars, values: impl Iterator<Item = u64> + Clone) -> Self {
        match bars {
            Bars::Even => Self::even(values),
            Bars::Suited | Bars::Groups => Self::whole(values),
        }
    }

    /// Whole values on the axis that suits them.
    fn whole(values: impl Iterator<Item = u64> + Clone) -> Self {
        let even = Self::even(values.clone());
        let low = values.clone().filter(|value| *value > 0).min();
        let high = values.clone().max();
        match (low, high) {
            (Some(low), Some(high)) if even.is_crowded() && is_wide(low as f64, high as f64) => {
                Self::powers(values)
            }
            _ => even,
        }
    }

    /// Whole values on an even axis, one bar per value or per equal number of values.
    fn even(values: impl Iterator<Item = u64> + Clone) -> Self {
        let (Some(low), Some(high)) = (values.clone().min(), values.clone().max()) else {
            return Self::empty();
        };
        let step = (high - low) / BARS_MAX + 1;
        let bars = (0..=(high - low) / step).map(|at| {
            let first = low + at * step;
            Bar::new(whole_label(first, first.saturating_add(step - 1).min(high)))
        });
        let place = |value: u64| (value - low) / step;
        let mut filled = Self::filled(bars.collect(), Scale::Even, values.map(place));
        if filled.bars.len() as u64 >= MANY_BARS {
            filled.ticks = whole_ticks(low, high, step);
        }
        filled
    }

    /// Whole values, one bar per power of two and one for zero.
    fn powers(values: impl Iterator<Item = u64> + Clone) -> Self {
        let place = |value: u64| value.checked_ilog2().map_or(0, |log| u64::from(log) + 1);
        let lowest = values.clone().map(place).min().unwrap_or(0);
        let high = values.clone().max().unwrap_or(0);
        let bars = (lowest..=place(high)).map(|at| match at.checked_sub(1) {
            None => Bar::new("0".to_owned()),
            Some(log) => {
                let first = 1_u64 << log;
                Bar::new(whole_label(
                    first,
                    first.saturating_mul(2).saturating_sub(1).min(high),
                ))
            }
        });
        let places = values.map(|value| place(value) - lowest);
        Self::filled(bars.collect(), Scale::Logarithmic, places)
    }

    /// Real values on the axis that suits them, without those that are not numbers.
    fn real(values: impl Iterator<Item = f64> + Clone) -> Self {
        let finite = values.filter(|value| value.is_finite());
        let low = finite.clone().fold(f64::INFINITY, f64::min);
        let high = finite.clone().fold(f64::NEG_INFINITY, f64::max);
        if low > high {
            return Self::empty();
        }
        let even = Self::steps(finite.clone(), low, high, BARS_MAX);
        if low <= 0.0 || !even.is_crowded() || !is_wide(low, high) {
            return even;
        }
        let logs = finite.map(f64::ln);
        let mut bars = Self::steps(logs, low.ln(), high.ln(), LOG_BARS);
        bars.scale = Scale::Logarithmic;
        bars.ticks.clear();
        let step = (high.ln() - low.ln()) / LOG_BARS as f64;
        for (at, bar) in bars.bars.iter_mut().enumerate() {
            bar.label = format!("{:.3e}", (low.ln() + at as f64 * step).exp());
        }
        bars
    }

    /// Real values in at most `count` bars of equal width from `low` to `high`.
    fn steps(values: impl Iterator<Item = f64>, low: f64, high: f64, count: u64) -> Self {
        let count = if high > low { count } else { 1 };
        let step = (high - low) / count as f64;
        let bars = (0..count).map(|at| Bar::new(format!("{:.3e}", low + at as f64 * step)));
        let place = |value: f64| (((value - low) / step) as u64).min(count - 1);
        let mut filled = Self::filled(bars.collect(), Scale::Even, values.map(place));
        if filled.bars.len() as u64 >= MANY_BARS {
            filled.ticks = real_ticks(low, high, step);
        }
        filled
    }

    /// Nodes by the size of their component, one bar per power of two.
    fn sizes(labels: &[u32]) -> Self {
        let mut sizes = vec![0_u32; labels.len()];
        for label in labels {
            if let Some(size) = sizes.get_mut(*label as usize) {
                *size += 1;
            }
        }
        let size_of = |label: &u32| sizes.get(*label as usize).copied().map(u64::from);
        Self::powers(labels.iter().filter_map(size_of))
    }

    fn empty() -> Self {
        Self {
            bars: Vec::new(),
            scale: Scale::Even,
            ticks: Vec::new(),
        }
    }

    fn filled(mut bars: Vec<Bar>, scale: Scale, places: impl Iterator<Item = u64>) -> Self {
        for place in places {
            if let Some(bar) = bars.get_mut(place as usize) {
                bar.nodes += 1;
            }
        }
        let ticks = Vec::new();
        Self { bars, scale, ticks }
    }

    /// Returns whether more than half of the nodes are in the first sixteenth of the bars.
    fn is_crowded(&self) -> bool {
        let total: u64 = self.bars.iter().map(|bar| bar.nodes).sum();
        let first = self.bars.iter().take(self.bars.len() / 16);
        first.map(|bar| bar.nodes).sum::<u64>() > total / 2
    }

    /// Whether one bar is so high that others are not seen: half of them have less than a
    /// hundredth of its nodes.
    pub(super) fn has_one_that_hides_others(&self) -> bool {
        let counts = self
            .bars
            .iter()
            .map(|bar| bar.nodes)
            .filter(|nodes| *nodes > 0);
        let low = counts
            .clone()
            .filter(|nodes| nodes * HIDDEN < self.highest())
            .count();
        2 * low >= counts.count() && low > 0
    }

    pub(super) fn highest(&self) -> u64 {
        self.bars.iter().map(|bar| bar.nodes).max().unwrap_or(0)
    }
}

impl Bar {
    fn new(label: String) -> Self {
        Self { label, nodes: 0 }
    }
}

/// The smallest of 1, 2 and 5 times a power of ten that divides `span` into at most `most` steps.
pub(crate) fn round_step(span: u64, most: u64) -> u64 {
    let powers = (0..19).map(|power| 10_u64.pow(power));
    let mut steps = powers.flat_map(|power| [1, 2, 5].map(|factor| power.saturating_mul(factor)));
    let step = steps.find(|step| span / step <= most);
    step.unwrap_or(u64::MAX)
}

/// Round values from `low` to `high`, where each bar has `width` values. A value is in the middle of
/// its part of a bar.
fn whole_ticks(low: u64, high: u64, width: u64) -> Vec<Tick> {
    let step = round_step(high - low, TICKS_MAX);
    let ticks = (low.div_ceil(step)..=high / step).map(|at| at * step);
    let tick = |value: u64| Tick {
        at: ((value - low) as f64 + 0.5) / width as f64,
        label: Count(value).to_string(),
    };
    ticks.map(tick).collect()
}

/// Round values from `low` to `high`, where each bar is `width` wide.
fn real_ticks(low: f64, high: f64, width: f64) -> Vec<Tick> {
    let power = ((high - low) / TICKS_MAX as f64).log10().floor();
    let steps = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * 10_f64.powf(power));
    let fits = |step: &f64| (high - low) / step <= TICKS_MAX as f64;
    let Some(step) = steps.into_iter().find(fits) else {
        return Vec::new();
    };
    let digits = if step < 1.0 {
        -step.log10().floor()
    } else {
        0.0
    };
    // Beyond these, digits are longer than what they tell.
    if !(1e-6..=1e9).contains(&step) {
        return Vec::new();
    }
    let numbers = (low / step).ceil() as i64..=(high / step).floor() as i64;
    let tick = |number: i64| Tick {
        at: (number as f64 * step - low) / width,
        label: format!("{:.*}", digits as usize, number as f64 * step),
    };
    numbers.map(tick).collect()
}

fn is_wide(low: f64, high: f64) -> bool {
    high / low >= WIDE
}

fn whole_label(first: u64, last: u64) -> String {
    if first == last {
        first.to_string()
    } else {
        format!("{first} to {last}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::tests::outcome;

    fn counts(histogram: &Histogram) -> Vec<u64> {
        histogram.bars.iter().map(|bar| bar.nodes).collect()
    }

    fn all(histogram: &Histogram) -> u64 {
        counts(histogram).iter().sum()
    }

    #[test]
    fn a_search_shows_its_frontiers() {
        assert_eq!(counts(&Histogram::of(&outcome())), [1, 2]);
    }

    #[test]
    fn every_value_is_in_a_bar_however_wide_the_range() {
        for high in [0, 1, 159, 160, 161, 100_000, u64::from(u32::MAX), u64::MAX] {
            let values = [0, high, high / 2];
            for histogram in [
                Histogram::even(values.into_iter()),
                Histogram::powers(values.into_iter()),
            ] {
                assert!(histogram.bars.len() as u64 <= BARS_MAX);
                assert_eq!(all(&histogram), 3);
            }
        }
    }

    fn labels(histogram: &Histogram) -> Vec<&str> {
        histogram.ticks.iter().map(|tick| &*tick.label).collect()
    }

    #[test]
    fn ticks_of_even_axes_are_round_and_at_their_values() {
        let levels = Histogram::even(0..620);
        assert_eq!(
            labels(&levels),
            ["0", "100", "200", "300", "400", "500", "600"]
        );
        // Each bar has four levels.
        assert_eq!(levels.ticks[1].at, 100.5 / 4.0);
        let few = Histogram::even(3..9);
        assert!(few.ticks.is_empty() && few.bars.len() == 6);
        let far = Histogram::even(1_990..2_030);
        assert_eq!(labels(&far)[..2], ["1,990", "1,995"]);
        assert_eq!(far.ticks[0].at, 0.5);
        let shares = Histogram::real((0..=100).map(|at| f64::from(at) / 100.0));
        assert_eq!(labels(&shares), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(shares.ticks[0].at, 0.0);
        for high in [1e-30, 1e30, f64::MAX] {
            let wide = Histogram::real([0.0, high].into_iter());
            assert!(wide.ticks.len() <= TICKS_MAX as usize + 1);
        }
        assert!(Histogram::even([0, u64::MAX].into_iter()).ticks.len() <= TICKS_MAX as usize + 1);
    }

    #[test]
    fn ranks_fill_bars_and_invalid_values_are_left_out() {
        assert_eq!(counts(&Histogram::real([0.5, 0.5].into_iter())), [2]);
        let wide = [0.0, 1.0, f64::NAN, f64::from(f32::MAX), f64::from(f32::MIN)];
        assert_eq!(all(&Histogram::real(wide.into_iter())), 4);
        assert!(Histogram::real([f64::NAN].into_iter()).bars.is_empty());
    }

    /// Nine in ten values are close to the smallest, one is a thousand times it.
    #[test]
    fn heavy_tails_get_a_logarithmic_axis_and_others_do_not() {
        let ranks = (1..=1000).map(|at| 1e-6 * 1000.0 / f64::from(at));
        let heavy = Histogram::real(ranks);
        assert_eq!(heavy.scale, Scale::Logarithmic);
        assert!(heavy.bars.iter().filter(|bar| bar.nodes > 0).count() > 40);
        assert!(heavy.highest() < 200 && all(&heavy) == 1000);
        let even = Histogram::real((1..=1000).map(f64::from));
        assert_eq!(even.scale, Scale::Even);
        let corners = (1..=1000_u64).map(|at| 10_000 / at - 10);
        let heavy = Histogram::whole(corners);
        assert_eq!(heavy.scale, Scale::Logarithmic);
        assert_eq!(heavy.bars[0].label, "0");
        assert_eq!(heavy.bars.last().unwrap().label, "8192 to 9990");
        assert_eq!(Histogram::whole(0..1000_u64).scale, Scale::Even);
    }

    #[test]
    fn components_are_grouped_by_size() {
        let sizes = Histogram::sizes(&[0, 1, 1, 1, 4]);
        assert_eq!(counts(&sizes), [2, 3]);
        assert_eq!(sizes.bars[1].label, "2 to 3");
    }
}
