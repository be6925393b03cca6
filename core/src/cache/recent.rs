//! A bounded map that evicts the least recently used entry: hashed buckets to find a slot, a list
//! by age to evict one.
//!
//! The caller owns the memory: slots, buckets and [`Ages`]. Slots link to each other by number.
//! Each slot is in two lists: the chain of its bucket and the list by age. A number that names no
//! slot ends a list, so no link is ever followed unchecked. With as many buckets as slots, chains
//! have a length of 1 on average.

/// Ends a list; the content of an empty bucket.
pub const NIL: u32 = u32::MAX;

/// A key of a [`Recent`] map. Equal keys have equal hashes.
pub trait Hashed {
    /// A hash that spreads over the upper 32 bits.
    fn hash(&self) -> u64;
}

/// One stored value with its links.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Slot<K, V> {
    key: Option<K>,
    value: Option<V>,
    newer: u32,
    older: u32,
    chained: u32,
}

impl<K, V> Slot<K, V> {
    /// A slot without a value.
    pub const EMPTY: Self = Self {
        key: None,
        value: None,
        newer: NIL,
        older: NIL,
        chained: NIL,
    };
}

/// Slots in use, and the ends of the list by age.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Ages {
    newest: u32,
    oldest: u32,
    used: u32,
}

impl Ages {
    /// The ages of a map without values.
    pub const EMPTY: Self = Self {
        newest: NIL,
        oldest: NIL,
        used: 0,
    };

    /// Values stored.
    #[must_use]
    pub const fn used(&self) -> u32 {
        self.used
    }
}

/// Outcome of storing a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Insertion {
    /// Whether it was stored.
    pub stored: bool,
    /// Whether another value was evicted.
    pub evicted: bool,
}

/// A map over memory of the caller, of any capacity; 0 is legal and stores nothing.
///
/// Hit, miss and insertion cost O(1) expected, eviction O(1).
///
/// ```
/// use seawall_core::cache::{Ages, Hashed, NIL, Recent, Slot};
///
/// #[derive(PartialEq)]
/// struct Name(&'static str);
///
/// impl Hashed for Name {
///     fn hash(&self) -> u64 {
///         (self.0.len() as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)
///     }
/// }
///
/// let (mut slots, mut buckets, mut ages) = ([Slot::EMPTY; 2], [NIL; 2], Ages::EMPTY);
/// let mut map = Recent::new(&mut slots, &mut buckets, &mut ages);
/// map.insert(Name("one"), 1);
/// map.insert(Name("two"), 2);
/// assert_eq!(map.get(&Name("one")), Some(&1));
/// assert!(map.insert(Name("three"), 3).evicted);
/// assert_eq!(map.get(&Name("two")), None);
/// # impl Clone for Name { fn clone(&self) -> Self { Name(self.0) } }
/// # impl Copy for Name {}
/// ```
#[derive(Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Recent<'c, K, V> {
    slots: &'c mut [Slot<K, V>],
    buckets: &'c mut [u32],
    ages: &'c mut Ages,
}

impl<'c, K: Hashed, V> Recent<'c, K, V> {
    /// The map in this memory: either fresh (empty slots, buckets of [`NIL`], empty ages) or the
    /// state left by an earlier view.
    #[must_use]
    pub const fn new(
        slots: &'c mut [Slot<K, V>],
        buckets: &'c mut [u32],
        ages: &'c mut Ages,
    ) -> Self {
        Self {
            slots,
            buckets,
            ages,
        }
    }

    /// The value stored under `key`, which becomes the most recently used.
    pub fn get(&mut self, key: &K) -> Option<&V>
    where
        K: PartialEq,
    {
        self.get_by(key.hash(), |known| known == key)
    }

    /// The value stored under the key of that `hash` for which `is_key` holds, which becomes the
    /// most recently used.
    pub fn get_by(&mut self, hash: u64, is_key: impl Fn(&K) -> bool) -> Option<&V> {
        let index = self.find(hash, is_key)?;
        self.unlink(index);
        self.push_newest(index);
        self.slot(index)?.value.as_ref()
    }

    /// Stores a value under an absent key, evicting the least recently used if full.
    pub fn insert(&mut self, key: K, value: V) -> Insertion {
        let hash = key.hash();
        let Some((index, evicted)) = self.space() else {
            return Insertion::default();
        };
        if let Some(slot) = self.slot_mut(index) {
            *slot = Slot {
                key: Some(key),
                value: Some(value),
                ..Slot::EMPTY
            };
        }
        self.chain(index, hash);
        self.push_newest(index);
        Insertion {
            stored: true,
            evicted,
        }
    }

    /// Takes a slot out of all lists; returns it and whether its value was evicted, `None` without
    /// slots.
    fn space(&mut self) -> Option<(u32, bool)> {
        let unused = self.ages.used;
        if (unused as usize) < self.slots.len() && unused != NIL {
            self.ages.used = unused.wrapping_add(1);
            return Some((unused, false));
        }
        let oldest = self.ages.oldest;
        self.slot(oldest)?;
        self.unlink(oldest);
        self.unchain(oldest);
        Some((oldest, true))
    }

    /// Forgets every value.
    pub fn clear(&mut self) {
        self.slots.fill_with(|| Slot::EMPTY);
        self.buckets.fill(NIL);
        *self.ages = Ages::EMPTY;
    }

    fn find(&self, hash: u64, is_key: impl Fn(&K) -> bool) -> Option<u32> {
        let mut index = self.buckets.get(self.bucket(hash)).copied()?;
        while let Some(slot) = self.slot(index) {
            if slot.key.as_ref().is_some_and(&is_key) {
                return Some(index);
            }
            index = slot.chained;
        }
        None
    }

    /// The bucket of a hash, scaled to the number of buckets, which needs no division.
    fn bucket(&self, hash: u64) -> usize {
        let high = hash.wrapping_shr(32);
        high.wrapping_mul(self.buckets.len() as u64)
            .wrapping_shr(32) as usize
    }

    fn chain(&mut self, index: u32, hash: u64) {
        let bucket = self.bucket(hash);
        let Some(head) = self.buckets.get_mut(bucket) else {
            return;
        };
        let next = core::mem::replace(head, index);
        if let Some(slot) = self.slot_mut(index) {
            slot.chained = next;
        }
    }

    fn unchain(&mut self, index: u32) {
        let Some(slot) = self.slot(index) else {
            return;
        };
        let hash = slot.key.as_ref().map_or(0, Hashed::hash);
        let (next, bucket) = (slot.chained, self.bucket(hash));
        let Some(head) = self.buckets.get_mut(bucket) else {
            return;
        };
        if *head == index {
            *head = next;
            return;
        }
        let mut before = *head;
        while let Some(slot) = self.slot_mut(before) {
            if slot.chained == index {
                slot.chained = next;
                return;
            }
            before = slot.chained;
        }
    }

    fn unlink(&mut self, index: u32) {
        let Some(&Slot { newer, older, .. }) = self.slot(index) else {
            return;
        };
        match self.slot_mut(newer) {
            Some(slot) => slot.older = older,
            None => self.ages.newest = older,
        }
        match self.slot_mut(older) {
            Some(slot) => slot.newer = newer,
            None => self.ages.oldest = newer,
        }
    }

    fn push_newest(&mut self, index: u32) {
        let second = core::mem::replace(&mut self.ages.newest, index);
        match self.slot_mut(second) {
            Some(slot) => slot.newer = index,
            None => self.ages.oldest = index,
        }
        if let Some(slot) = self.slot_mut(index) {
            slot.newer = NIL;
            slot.older = second;
        }
    }

    fn slot(&self, index: u32) -> Option<&Slot<K, V>> {
        self.slots.get(index as usize)
    }

    fn slot_mut(&mut self, index: u32) -> Option<&mut Slot<K, V>> {
        self.slots.get_mut(index as usize)
    }
}
