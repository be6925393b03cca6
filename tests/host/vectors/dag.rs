//! Layers and groups. Ids are read in 64 bits: a record is checked before any count.

use super::Outcome;
use super::read::{input, outcome};
use seawall_core::plan::{Budget, Requirements, Shape, Strategy, check_records, groups, layers_of};
use seawall_core::scratch::{GroupScratchView, ScratchView};
use seawall_core::wave::{Dag, Dependency, Wave};
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Barriers {
    waves: u64,
    dependencies: Vec<(u64, u64)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FrontierMemory {
    waves: Vec<WaveBytes>,
    dependencies: Vec<(u64, u64)>,
    resident_bytes: u64,
    budget_bytes: u64,
    readback_bytes: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WaveBytes {
    frontier_bytes: u64,
    scratch_bytes: u64,
    output_bytes: u64,
}

/// Records whose ids are known to fit.
fn narrow(dependencies: &[(u64, u64)]) -> Vec<Dependency> {
    let id = |wide: u64| u32::try_from(wide).unwrap();
    dependencies
        .iter()
        .map(|&(before, after)| Dependency {
            before: id(before),
            after: id(after),
        })
        .collect()
}

/// Scratch for this many waves and dependencies.
struct Words {
    layers: Vec<u32>,
    dependencies: Vec<u32>,
}

impl Words {
    fn for_dag(waves: usize, dependencies: usize) -> Self {
        let needs = Requirements::for_dag(waves, dependencies);
        Self {
            layers: vec![0; needs.layer_words],
            dependencies: vec![0; needs.dependency_words],
        }
    }

    fn view(&mut self) -> ScratchView<'_> {
        ScratchView::new(&mut self.layers, &mut self.dependencies)
    }
}

pub(super) fn barriers(value: Value) -> Outcome {
    let Barriers {
        waves,
        dependencies,
    } = input(value);
    if let Err(error) = check_records(waves, dependencies.iter().copied()) {
        return outcome::<(), _>(Err(error));
    }
    let dependencies = narrow(&dependencies);
    // A vector whose waves exceed memory has a bad record, so it does not reach this point.
    let mut words = Words::for_dag(usize::try_from(waves).unwrap(), dependencies.len());
    let shape = Shape {
        waves,
        dependencies: &dependencies,
    };
    outcome(layers_of(shape, words.view()))
}

pub(super) fn frontier_memory(value: Value) -> Outcome {
    let given: FrontierMemory = input(value);
    let waves: Vec<Wave> = given.waves.iter().map(WaveBytes::wave).collect();
    if let Err(error) = check_records(waves.len() as u64, given.dependencies.iter().copied()) {
        return outcome::<(), _>(Err(error));
    }
    let dependencies = narrow(&given.dependencies);
    let mut words = Words::for_dag(waves.len(), dependencies.len());
    let dag = Dag {
        waves: &waves,
        dependencies: &dependencies,
    };
    let budget = Budget {
        resident_bytes: given.resident_bytes,
        budget_bytes: given.budget_bytes,
        readback_bytes: given.readback_bytes,
    };
    let scratch = GroupScratchView::in_order(words.view());
    outcome(groups(&dag, &budget, Strategy::InOrder, scratch))
}

impl WaveBytes {
    const fn wave(&self) -> Wave {
        Wave {
            frontier_bytes: self.frontier_bytes,
            scratch_bytes: self.scratch_bytes,
            output_bytes: self.output_bytes,
        }
    }
}
