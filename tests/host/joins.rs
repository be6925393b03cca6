//! Copies of an array that devices joined values to: the kernel that makes them one again, on simulated
//! warps, beside the same joins to one array.

use crate::drawn::few;
use proptest::prelude::*;
use seawall_core::abi::VERSION;
use seawall_core::abi::code::{Join, Joined, Kind};
use seawall_core::abi::multi::{DEVICES_MAX, JOIN_MAGIC, JoinRecord};
use seawall_device::multi::{Copies, join};
use seawall_oracles::lanes;

/// A value after another one was joined to it.
fn after(Joined { how, kind }: Joined, there: u64, value: u64) -> u64 {
    let float = |word: u64| f32::from_bits(word as u32);
    let is_less = |a: u64, b: u64| match kind {
        Kind::U32 | Kind::U64 => a < b,
        Kind::I32 => (a as u32 as i32) < b as u32 as i32,
        Kind::F32 => float(a) < float(b),
    };
    let found = match how {
        Join::Sum => there.wrapping_add(value),
        Join::Or => there | value,
        Join::And => there & value,
        Join::Any => value,
        Join::Min if is_less(value, there) => value,
        Join::Max if is_less(there, value) => value,
        Join::Min | Join::Max => there,
    };
    match kind {
        Kind::U64 => found,
        _ => found & u64::from(u32::MAX),
    }
}

/// Words with room for pairs at their alignment.
fn array(joined: Joined, values: &[u64]) -> Vec<u64> {
    match joined.kind {
        Kind::U64 => values.to_vec(),
        _ => values
            .chunks(2)
            .map(|pair| pair[0] | pair.get(1).copied().unwrap_or(0) << 32)
            .collect(),
    }
}

fn values(joined: Joined, array: &[u64], count: usize) -> Vec<u64> {
    match joined.kind {
        Kind::U64 => array.to_vec(),
        _ => {
            let halves = array
                .iter()
                .flat_map(|word| [word & 0xffff_ffff, word >> 32]);
            halves.take(count).collect()
        }
    }
}

/// Every join of a kind of values that it takes.
fn every_join() -> Vec<Joined> {
    (0..64).filter_map(Joined::from_word).collect()
}

proptest! {
    #![proptest_config(few(32))]

    #[test]
    fn joined_copies_are_those_of_one_array(
        seed in any::<u64>(),
        count in 1_usize..70,
        devices in 1_usize..=5,
    ) {
        let mut random = seawall_oracles::random::Random::new(seed);
        for joined in every_join() {
            let mut value = || match joined.kind {
                Kind::F32 => u64::from((random.below(2000) as f32 - 1000.0).to_bits()),
                Kind::U64 => u64::from(random.below(u32::MAX)) << 20,
                _ => u64::from(random.below(u32::MAX)),
            };
            let before: Vec<u64> = (0..count).map(|_| value()).collect();
            let mut one = before.clone();
            let mut copies = vec![before.clone(); devices];
            for (at, there) in one.iter_mut().enumerate() {
                // `Any` keeps one of several values, so that only one device has one.
                let those = match joined.how {
                    Join::Any => at % devices..at % devices + 1,
                    _ => at % 3 % devices..devices,
                };
                for device in those {
                    let added = value();
                    *there = after(joined, *there, added);
                    copies[device][at] = after(joined, copies[device][at], added);
                }
            }
            let mut arrays: Vec<_> = copies.iter().map(|copy| array(joined, copy)).collect();
            let mut record = JoinRecord {
                magic: JOIN_MAGIC,
                version: VERSION,
                joined: joined.to_word(),
                copies: devices as u32,
                ..JoinRecord::default()
            };
            let mut places = [0; DEVICES_MAX];
            for (place, array) in places.iter_mut().zip(&mut arrays) {
                *place = array.as_mut_ptr() as u64;
            }
            record.values = places;
            for device in 0..devices {
                let part = count * device / devices..count * (device + 1) / devices;
                let kept = array(joined, &before[part.clone()]);
                record.before = kept.as_ptr() as u64;
                [record.first, record.end] = [part.start, part.end].map(|at| at as u32);
                lanes::each(2, 32, 0, |grid| {
                    // SAFETY: the record describes memory that outlives the run.
                    join(grid, unsafe { Copies::new(&raw const record) });
                });
            }
            for array in &arrays {
                prop_assert_eq!(&values(joined, array, count), &one, "{:?}", joined);
            }
        }
    }
}
