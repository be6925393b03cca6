//! Colours of nodes by their values.

use std::collections::HashMap;

use crate::canvas::Colour;
use seawall::analysis::{Bars, Values};
use seawall::outcome::{Column, RunOutcome};
use seawall::units::counted;

/// Colours of sets, the largest first; further sets are grey. Okabe and Ito's palette, which
/// readers who see few colours tell apart.
const SETS: [Colour; 7] = [
    Colour([0x00, 0x72, 0xb2]),
    Colour([0xe6, 0x9f, 0x00]),
    Colour([0x00, 0x9e, 0x73]),
    Colour([0xd5, 0x5e, 0x00]),
    Colour([0x56, 0xb4, 0xe9]),
    Colour([0xcc, 0x79, 0xa7]),
    Colour([0xf0, 0xe4, 0x42]),
];

/// Colour of nodes without a value, and of small sets.
const NONE: Colour = Colour([0xd5, 0xdd, 0xe4]);

/// Stops of the scale of numbers, from the lowest to the highest.
const STOPS: [[f64; 3]; 4] = [
    [68.0, 1.0, 84.0],
    [49.0, 104.0, 142.0],
    [53.0, 183.0, 121.0],
    [253.0, 231.0, 37.0],
];

/// Ratio of the highest to the lowest value from which on a scale may be logarithmic.
const WIDE: f64 = 32.0;

/// Colours of all nodes, and what they mean.
pub(super) struct Colours {
    nodes: Vec<Colour>,
    pub(super) legend: Legend,
    /// Values in words, for hints.
    texts: Vec<String>,
}

/// The meaning of colours.
pub(super) enum Legend {
    /// Numbers from the lowest to the highest.
    Scale {
        lowest: String,
        highest: String,
        is_logarithmic: bool,
    },
    /// Sets, largest first: colour and size.
    Sets(Vec<(Colour, String)>),
    /// Colours mean nothing.
    Empty,
}

impl Colours {
    /// The colours of an outcome; `label` is the name of a node.
    pub(super) fn of(outcome: &RunOutcome, label: &dyn Fn(u32) -> String) -> Self {
        let definition = outcome.analysis.definition();
        let bars = definition.picture(&outcome.values).bars;
        let values = definition.facts().values;
        let has_all = !matches!(values, Values::NumbersOfReached | Values::NodesOfReached);
        match &outcome.values {
            Column::U32(labels) if bars == Bars::Groups => {
                let is_node = matches!(values, Values::Nodes | Values::NodesOfReached);
                let name = |set: u32| match set {
                    u32::MAX if !has_all => "not reached".to_owned(),
                    _ if is_node => format!("set of {}", label(set)),
                    _ => format!("set {set}"),
                };
                Self::sets(labels, has_all, &name)
            }
            // The edges are drawn.
            column if values == Values::Edges => Self {
                nodes: vec![SETS[0]; column.len()],
                legend: Legend::Empty,
                texts: Vec::new(),
            },
            values => Self::scale(&numbers(values, has_all), bars == Bars::Suited),
        }
    }

    /// The colour of a node.
    pub(super) fn node(&self, node: u32) -> Colour {
        self.nodes.get(node as usize).copied().unwrap_or(NONE)
    }

    /// The value of a node in words.
    pub(super) fn text(&self, node: u32) -> &str {
        self.texts.get(node as usize).map_or("", String::as_str)
    }

    fn sets(labels: &[u32], has_all: bool, name: &dyn Fn(u32) -> String) -> Self {
        let is_known = |label: u32| has_all || label != u32::MAX;
        let mut sizes: HashMap<u32, u64> = HashMap::new();
        for label in labels.iter().copied().filter(|label| is_known(*label)) {
            *sizes.entry(label).or_default() += 1;
        }
        let mut largest: Vec<(u32, u64)> = sizes.into_iter().collect();
        largest.sort_by_key(|(label, size)| (std::cmp::Reverse(*size), *label));
        let colours: HashMap<u32, Colour> = largest
            .iter()
            .zip(SETS)
            .map(|(set, it)| (set.0, it))
            .collect();
        let colour = |label: &u32| colours.get(label).copied().unwrap_or(NONE);
        let more = largest.len().saturating_sub(SETS.len());
        let named = largest.iter().zip(SETS);
        let mut legend: Vec<_> = named
            .map(|((_, size), it)| (it, counted(*size, "node")))
            .collect();
        if more > 0 {
            legend.push((NONE, format!("{} more", counted(more as u64, "set"))));
        }
        Self {
            nodes: labels.iter().map(colour).collect(),
            legend: Legend::Sets(legend),
            texts: labels.iter().map(|label| name(*label)).collect(),
        }
    }

    fn scale(numbers: &[Option<f64>], may_be_logarithmic: bool) -> Self {
        let known = || numbers.iter().flatten().copied();
        let lowest = known().fold(f64::INFINITY, f64::min);
        let highest = known().fold(f64::NEG_INFINITY, f64::max);
        let positive = known()
            .filter(|number| *number > 0.0)
            .fold(f64::INFINITY, f64::min);
        let is_logarithmic = may_be_logarithmic && highest >= positive * WIDE;
        let share = |number: f64| {
            let (low, high, at) = match is_logarithmic {
                true => (positive.ln(), highest.ln(), number.max(positive).ln()),
                false => (lowest, highest, number),
            };
            if high > low {
                (at - low) / (high - low)
            } else {
                1.0
            }
        };
        let colour = |number: &Option<f64>| number.map_or(NONE, |it| shade(share(it)));
        let legend = match known().next() {
            None => Legend::Empty,
            Some(_) => Legend::Scale {
                lowest: lowest.to_string(),
                highest: highest.to_string(),
                is_logarithmic,
            },
        };
        let text =
            |number: &Option<f64>| number.map_or("not reached".to_owned(), |it| it.to_string());
        Self {
            nodes: numbers.iter().map(colour).collect(),
            legend,
            texts: numbers.iter().map(text).collect(),
        }
    }
}

/// The numbers of a column; `None` for nodes that were not reached.
fn numbers(column: &Column, has_all: bool) -> Vec<Option<f64>> {
    match column {
        Column::U32(values) => {
            let known = |value: &u32| (has_all || *value != u32::MAX).then(|| f64::from(*value));
            values.iter().map(known).collect()
        }
        Column::U64(values) => {
            let known = |value: &u64| (*value != u64::MAX).then_some(*value as f64);
            values.iter().map(known).collect()
        }
        Column::I64(values) => {
            let known = |value: &i64| (*value != i64::MAX).then_some(*value as f64);
            values.iter().map(known).collect()
        }
        Column::F32(values) => {
            // As it is printed elsewhere, not with the digits that a wider float adds.
            let wide = |value: &f32| value.to_string().parse().unwrap_or(f64::from(*value));
            let known = |value: &f32| value.is_finite().then(|| wide(value));
            values.iter().map(known).collect()
        }
        Column::Sets(sets) => sets
            .counts()
            .into_iter()
            .map(|it| Some(f64::from(it)))
            .collect(),
        _ => Vec::new(),
    }
}

/// The colour at a share, from 0 to 1, of the scale.
pub(super) fn shade(share: f64) -> Colour {
    let last = STOPS.len() - 1;
    let share = if share.is_nan() {
        0.0
    } else {
        share.clamp(0.0, 1.0)
    };
    let at = share * last as f64;
    let stop = (at as usize).min(last - 1);
    let between = |channel: usize| {
        let (low, high) = (STOPS[stop][channel], STOPS[stop + 1][channel]);
        (low + (high - low) * (at - stop as f64)) as u8
    };
    Colour([between(0), between(1), between(2)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_goes_from_dark_to_light_and_never_leaves_it() {
        assert_eq!(shade(0.0), Colour([68, 1, 84]));
        assert_eq!(shade(1.0), Colour([253, 231, 37]));
        assert_eq!([shade(-3.0), shade(f64::NAN)], [shade(0.0); 2]);
    }

    #[test]
    fn the_largest_sets_have_colours_and_all_others_are_counted() {
        let labels: Vec<u32> = (0..9)
            .flat_map(|set| vec![set; 10 - set as usize])
            .collect();
        let colours = Colours::sets(&labels, true, &|set| format!("set {set}"));
        assert_eq!(
            (colours.node(0), colours.node(labels.len() as u32 - 1)),
            (SETS[0], NONE)
        );
        let Legend::Sets(sets) = colours.legend else {
            panic!()
        };
        assert_eq!(sets.len(), SETS.len() + 1);
        assert_eq!(sets[0].1, "10 nodes");
        assert_eq!(sets[SETS.len()].1, "2 sets more");
    }

    #[test]
    fn unreached_nodes_are_grey_and_ranks_have_a_logarithmic_scale() {
        let levels = Colours::scale(&[Some(0.0), None, Some(4.0)], false);
        assert_eq!((levels.node(1), levels.text(1)), (NONE, "not reached"));
        let ranks = Colours::scale(&[Some(0.001), Some(0.5)], true);
        assert!(matches!(
            ranks.legend,
            Legend::Scale {
                is_logarithmic: true,
                ..
            }
        ));
        assert!(matches!(
            Colours::scale(&[None], true).legend,
            Legend::Empty
        ));
    }
}
