//! `Packed` against an exact search.

use crate::oracle::packing::Problem;
use crate::support::*;
use seawall_core::plan::{Budget, Strategy};

struct Tally {
    optimal: usize,
    trials: usize,
}

/// Compares both strategies with the optimum over random programs.
fn compare(seed: u64, trials: usize, budget: impl Fn(&mut Random, &Program) -> Budget) -> Tally {
    let mut random = Random(seed);
    let mut tally = Tally { optimal: 0, trials };
    for _ in 0..trials {
        let (waves, percent) = (random.within(4, 12), random.within(5, 60));
        let program = random.program(waves, percent, 1000);
        let budget = budget(&mut random, &program);
        let packed = plan_groups(&program, &budget, Strategy::Packed).unwrap();
        let in_order = plan_groups(&program, &budget, Strategy::InOrder).unwrap();
        let problem = Problem::new(program.fused(), &program.dependencies, budget.budget_bytes);
        let fewest = problem.fewest_groups();
        assert!(packed.groups.len() <= in_order.groups.len());
        assert!(packed.groups.len() as u64 >= packed.summary.lower_bound);
        assert!(fewest as u64 >= packed.summary.lower_bound);
        assert!(packed.groups.len() >= fewest);
        tally.optimal += usize::from(packed.groups.len() == fewest);
    }
    tally
}

#[test]
fn packed_is_optimal_on_nearly_all_small_programs() {
    let tally = compare(7, 2000, |random, program| random.budget(program));
    println!("optimal {} of {}", tally.optimal, tally.trials);
    assert!(tally.optimal * 100 >= tally.trials * 95);
}

#[test]
fn packed_is_optimal_on_nearly_all_tight_programs() {
    let tight = |random: &mut Random, program: &Program| {
        let largest = program.fused().into_iter().max().unwrap_or(0);
        Budget {
            budget_bytes: largest + random.within(0, largest),
            ..Budget::default()
        }
    };
    let tally = compare(11, 2000, tight);
    println!("optimal {} of {}", tally.optimal, tally.trials);
    assert!(tally.optimal * 100 >= tally.trials * 95);
}
