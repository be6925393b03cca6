//! Liveness beside that of a register allocator, on the same blocks.

use crate::analyses::read;
use crate::random::{self, Numbers};
use proptest::prelude::*;
use seawall::executor::Machine;
use seawall_modules::analysis::Lived;
use seawall_modules::flow::On;
use seawall_modules::model::Program;
use std::num::NonZeroUsize;

#[expect(dead_code, reason = "the example's own program, which measures")]
#[path = "../examples/live_registers.rs"]
mod live_registers;

/// Compares the live cells of all blocks with those of the allocator.
pub(crate) fn check_registers(program: &Program) {
    let on = On::new(Machine::cpu(NonZeroUsize::new(1)));
    let lived = Lived::of(program, on).unwrap();
    let difference = live_registers::difference(program, &lived).unwrap();
    assert_eq!(difference, None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn cells_of_random_modules_live_where_registers_do(
        numbers in prop::collection::vec(any::<u8>(), 0..400)
    ) {
        check_registers(&read(&random::module(&mut Numbers::new(&numbers))));
    }
}

#[test]
fn a_difference_is_told() {
    let text = "(module (func (param i32) (local i32) loop local.get 1 local.set 1
        local.get 0 br_if 0 end))";
    let (program, other) = (
        read(text),
        read(&text.replace("local.get 1", "i32.const 1")),
    );
    let on = On::new(Machine::cpu(NonZeroUsize::new(1)));
    let lived = Lived::of(&other, on).unwrap();
    let difference = live_registers::difference(&program, &lived).unwrap();
    let expected = "block 0 of function 0: {0} here, {0, 1} there";
    assert_eq!(difference.as_deref(), Some(expected));
}
