//! Next-fit: layers are cut where the next wave does not fit.
//!
//! Every wave is compared with the group budget, and the bytes of all waves are added
//! up for the lower bound. Packing starts from this plan.

use super::super::cells::{read, write};
use crate::error::GroupError;
use crate::wave::{Wave, WaveId};

/// Next-fit over layers.
pub(super) struct Cut<'a> {
    waves: &'a [Wave],
    group_bytes: u64,
    ends: &'a mut [u32],
    groups: u32,
    fill: Fill,
}

impl<'a> Cut<'a> {
    /// Groups of at most `group_bytes`, whose ends go to `ends`.
    pub(super) fn new(waves: &'a [Wave], group_bytes: u64, ends: &'a mut [u32]) -> Self {
        Self {
            waves,
            group_bytes,
            ends,
            groups: 0,
            fill: Fill {
                group_bytes,
                full: 0,
                rest: 0,
            },
        }
    }

    /// Groups so far.
    pub(super) fn groups(&self) -> u32 {
        self.groups
    }

    /// No plan has fewer groups than all bytes so far fill.
    pub(super) fn fewest(&self) -> u64 {
        self.fill.groups()
    }

    /// Cuts each layer where the next wave does not fit.
    pub(super) fn layers(&mut self, order: &[u32], layer_ends: &[u32]) -> Result<(), GroupError> {
        let mut position = 0;
        for layer_end in layer_ends {
            let mut held = 0u64;
            while position < *layer_end {
                let bytes = self.check(read(order, position))?;
                held = match held
                    .checked_add(bytes)
                    .filter(|sum| *sum <= self.group_bytes)
                {
                    Some(sum) => sum,
                    None => {
                        self.close(position);
                        bytes
                    }
                };
                self.fill.add(bytes);
                position = position.wrapping_add(1);
            }
            self.close(position);
        }
        Ok(())
    }

    fn close(&mut self, end: u32) {
        write(self.ends, self.groups, end);
        self.groups = self.groups.wrapping_add(1);
    }

    /// Fused bytes of a wave, if it can run at all.
    fn check(&self, wave: u32) -> Result<u64, GroupError> {
        let Some(bytes) = read(self.waves, wave).fused_bytes() else {
            return Err(GroupError::Overflow {
                field: "fused wave bytes",
            });
        };
        if bytes > self.group_bytes {
            return Err(GroupError::WaveOverBudget {
                wave: WaveId(wave),
                required_bytes: bytes,
                budget_bytes: self.group_bytes,
            });
        }
        Ok(bytes)
    }
}

/// All bytes over the group budget, rounded up, without a sum that could overflow.
struct Fill {
    group_bytes: u64,
    full: u64,
    rest: u64,
}

impl Fill {
    /// Adds at most the bytes of one full group.
    fn add(&mut self, bytes: u64) {
        let missing = self.group_bytes.saturating_sub(bytes);
        if self.group_bytes > 0 && self.rest >= missing {
            self.rest = self.rest.saturating_sub(missing);
            self.full = self.full.saturating_add(1);
        } else {
            self.rest = self.rest.saturating_add(bytes);
        }
    }

    fn groups(&self) -> u64 {
        self.full.saturating_add(u64::from(self.rest > 0))
    }
}
