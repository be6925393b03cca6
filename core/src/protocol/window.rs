//! The memory that a tenant's opcodes reach.

use super::layout::{field, words_of};
use super::refusal::Refusal;
use super::{Read, Ring, Scope, Swap, Update, Words, Write};
use crate::abi::ring::{ControlBlock, FaultCode, TENANTS, TenantRecord};
use bytemuck::Zeroable;

/// A tenant's words: indices into the memory, all in range.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    first: u32,
    words: u32,
}

impl Window {
    /// The place of a word.
    pub(super) fn at(self, address: u32) -> Result<u32, Refusal> {
        self.span(address, 1)
    }

    /// The place of the first of some words.
    pub(super) fn span(self, address: u32, words: u32) -> Result<u32, Refusal> {
        let end = address.checked_add(words);
        if end.is_none_or(|end| end > self.words) {
            return Err(Refusal::new(FaultCode::BadAddress, address));
        }
        Ok(self.first.wrapping_add(address))
    }
}

impl<W: Words + ?Sized> Ring<'_, W> {
    /// First word of a tenant's record.
    pub(super) const fn tenant_at(tenant: u32) -> u32 {
        let before = tenant.wrapping_mul(words_of::<TenantRecord>());
        field!(ControlBlock, tenants).wrapping_add(before)
    }

    /// Rights and counters of a tenant; all zero if there is no such tenant.
    #[must_use]
    pub fn tenant(&self, tenant: u32) -> TenantRecord {
        if tenant >= TENANTS {
            return TenantRecord::zeroed();
        }
        let mut words = [0; words_of::<TenantRecord>() as usize];
        self.read_words(Self::tenant_at(tenant), &mut words);
        bytemuck::cast(words)
    }

    /// A word of a tenant's record; 0 if there is no such tenant.
    #[inline(always)]
    fn tenant_word(&self, tenant: u32, field: u32) -> u32 {
        if tenant >= TENANTS {
            return 0;
        }
        self.get(Self::tenant_at(tenant).wrapping_add(field))
    }

    /// The kinds that a tenant may post; 0 if there is no such tenant.
    #[inline(always)]
    pub(super) fn mask_of(&self, tenant: u32) -> u32 {
        self.tenant_word(tenant, field!(TenantRecord, mask))
    }

    /// Slots of a tenant that may be claimed at the same time.
    #[inline(always)]
    pub(super) fn quota_of(&self, tenant: u32) -> u32 {
        self.tenant_word(tenant, field!(TenantRecord, quota))
    }

    /// Slots of a tenant that are claimed.
    #[inline(always)]
    pub(super) fn running_of(&self, tenant: u32) -> u32 {
        self.tenant_word(tenant, field!(TenantRecord, running))
    }

    /// The window of a tenant. A record that reaches beyond the windows has none.
    #[inline(always)]
    pub(super) fn window(&self, tenant: u32) -> Window {
        let first = self.tenant_word(tenant, field!(TenantRecord, window_first));
        let words = self.tenant_word(tenant, field!(TenantRecord, window_words));
        let end = first.checked_add(words);
        let is_inside = end.is_some_and(|end| end <= self.layout.window_words());
        Window {
            first: self.layout.windows().wrapping_add(first),
            words: if is_inside { words } else { 0 },
        }
    }

    /// Reads words of a tenant's window from `address` on.
    ///
    /// # Errors
    /// [`FaultCode::BadAddress`] if they lie outside.
    pub fn read_window(&self, tenant: u32, address: u32, to: &mut [u32]) -> Result<(), Refusal> {
        let at = self.window(tenant).span(address, length(to))?;
        self.read_words(at, to);
        Ok(())
    }

    /// Writes words of a tenant's window from `address` on.
    ///
    /// # Errors
    /// [`FaultCode::BadAddress`] if they lie outside.
    pub fn write_window(&self, tenant: u32, address: u32, from: &[u32]) -> Result<(), Refusal> {
        let at = self.window(tenant).span(address, length(from))?;
        self.write_words(at, from);
        Ok(())
    }

    /// Reads a word for workers of one device or a host that holds the slot.
    pub(super) fn get(&self, at: u32) -> u32 {
        self.words.load(at, Read::Relaxed, Scope::System)
    }

    /// Writes a word that a release publishes.
    pub(super) fn set(&self, at: u32, value: u32) {
        self.words.store(at, value, Write::Relaxed, Scope::System);
    }

    /// Adds to a counter.
    pub(super) fn count(&self, at: u32, value: u32) -> u32 {
        self.words.add(at, value, Update::Relaxed, Scope::System)
    }

    /// Adds to a counter whose previous value is not needed.
    #[inline(always)]
    pub(super) fn tally(&self, at: u32, value: u32) {
        self.words
            .add_unseen(at, value, Update::Relaxed, Scope::System);
    }

    /// Raises a counter to `value`.
    pub(super) fn raise(&self, at: u32, value: u32) {
        let mut seen = self.get(at);
        while seen < value {
            let swap = Swap {
                expected: seen,
                value,
            };
            let found = self.words.swap_if(at, swap, Update::Relaxed, Scope::System);
            if found == seen {
                return;
            }
            seen = found;
        }
    }

    #[inline(always)]
    pub(super) fn read_words(&self, at: u32, to: &mut [u32]) {
        self.words.load_run(at, to);
    }

    #[inline(always)]
    pub(super) fn write_words(&self, at: u32, from: &[u32]) {
        self.words.store_run(at, from);
    }
}

fn length(words: &[u32]) -> u32 {
    u32::try_from(words.len()).unwrap_or(u32::MAX)
}
