//! Sums of floats over the items of a wave, whose bits do not depend on the order of items.
//!
//! Items store their terms; waves of a fixed shape add them up, [`AT_ONCE`] at a time.

use super::builder::ProgramBuilder;
use super::encoded::RegisterId;
use super::error::ProgramError;
use super::vocabulary::Over;
use seawall_core::abi::code::{Join, Kind};

/// Terms that an item adds up.
const AT_ONCE: u32 = 16;

impl ProgramBuilder {
    /// Registers for the terms of `sums` over a domain, zero for items without one.
    pub(super) fn terms(
        &mut self,
        name: &str,
        over: Over,
        sums: &[RegisterId],
    ) -> Result<Vec<RegisterId>, ProgramError> {
        let items = match over {
            Over::Nodes | Over::List { .. } => self.nodes,
            Over::Count(items) => items,
            Over::Values(register) => self.values_of(register),
        };
        let register = |_: &RegisterId| self.zeroes(name, items);
        sums.iter().map(register).collect()
    }

    /// A register of zeroes for at least `items` floats, a multiple of [`AT_ONCE`].
    fn zeroes(&mut self, name: &str, items: u32) -> Result<RegisterId, ProgramError> {
        let values = u64::from(items).next_multiple_of(AT_ONCE.into());
        let terms = self.values(format!("terms of {name}"), Kind::F32, values.max(1))?;
        self.fill("no terms", terms, 0);
        Ok(terms)
    }

    /// Adds the terms of the items in `terms` to the first value of `to`.
    pub(super) fn add_up(&mut self, name: &str, to: RegisterId, mut terms: RegisterId) {
        let name = format!("sum of {name}");
        let mut values = self.values_of(terms);
        while values > AT_ONCE {
            let parts = values / AT_ONCE;
            let sums = match self.zeroes(&name, parts) {
                Ok(sums) => sums,
                Err(problem) => return self.refuse(problem),
            };
            self.each(&name, Over::Count(parts), |part| {
                // Adjacent items read adjacent terms.
                let mut sum = part.at(terms, part.index());
                for step in 1..AT_ONCE {
                    sum = sum + part.at(terms, part.index() + step * parts);
                }
                part.store(sums, sum);
            });
            (terms, values) = (sums, self.values_of(sums));
        }
        self.each(&name, Over::Count(1), |all| {
            let mut sum = all.at(terms, 0);
            for step in 1..values {
                sum = sum + all.at(terms, step);
            }
            all.scatter(to, 0, Join::Sum, sum);
        });
    }
}
