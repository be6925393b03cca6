//! A plan cache against a list that is searched from end to end.

use seawall_core::cache::{AnalysisKind, CacheCounters, DeviceKey, Identity, PlanCache, Subject};
use seawall_core::ratio::Bps;
use seawall_core::topology::{Metrics, Signals, Topology, TopologyPolicy};
use seawall_fuzz::draw::Draw;

use crate::choose;

/// Interval of the default thresholds in which each metric lies.
type Sides = [u8; 7];

fn sides(m: &Metrics) -> Sides {
    let passed =
        |value: u64, firsts: &[u64]| firsts.iter().filter(|&&first| value >= first).count() as u8;
    [
        passed(m.memory_pressure_bps.into(), &[8_501, 9_000]),
        passed(m.fusion_pressure_bps.into(), &[7_000]),
        passed(m.launch_pressure_bps.into(), &[1_500]),
        passed(m.readback_bytes, &[4_096]),
        passed(m.density_ppm.into(), &[31_251, 125_001, 700_000, 850_000]),
        passed(m.average_degree_bps, &[20_000]),
        passed(m.average_degree_bps, &[80_001]),
    ]
}

/// Most recently used last.
struct Baseline {
    capacity: usize,
    keys: Vec<(Identity, Sides)>,
    counters: CacheCounters,
}

impl Baseline {
    fn look_up(&mut self, key: (Identity, Sides)) {
        if let Some(at) = self.keys.iter().position(|stored| *stored == key) {
            let key = self.keys.remove(at);
            self.keys.push(key);
            self.counters.hits += 1;
            return;
        }
        self.counters.misses += 1;
        if self.capacity == 0 {
            return;
        }
        if self.keys.len() == self.capacity {
            self.keys.remove(0);
            self.counters.evictions += 1;
        }
        self.keys.push(key);
        self.counters.insertions += 1;
    }
}

fn identity(draw: &mut Draw<'_>) -> Identity {
    let kind = draw.byte();
    Identity {
        graph_layout_hash: u64::from(kind >> 6) << 62,
        analysis: match kind % 3 {
            0 => AnalysisKind::Dataflow,
            1 => AnalysisKind::Liveness,
            _ => AnalysisKind::Custom(u64::from(kind >> 4)),
        },
        device: DeviceKey {
            grid_sync: kind & 4 == 0,
            warp_size: 32,
            ..DeviceKey::default()
        },
    }
}

fn admitted(identity: &Identity, signals: Signals) -> Signals {
    let pressure = if identity.device.grid_sync {
        signals.fusion_pressure
    } else {
        Bps(0)
    };
    Signals {
        fusion_pressure: pressure,
        ..signals
    }
}

/// Calls of every kind on caches of several capacities.
pub(crate) fn calls(draw: &mut Draw<'_>) {
    match draw.byte() % 5 {
        0 => run::<0>(draw),
        1 => run::<1>(draw),
        2 => run::<2>(draw),
        3 => run::<7>(draw),
        _ => run::<33>(draw),
    }
}

fn run<const N: usize>(draw: &mut Draw<'_>) {
    let policy = TopologyPolicy::DEFAULT;
    let mut cache = PlanCache::<N>::new(policy);
    let mut baseline = Baseline {
        capacity: N,
        keys: Vec::new(),
        counters: CacheCounters::default(),
    };
    let mut subjects: Vec<Subject> = draw.list(6, |draw| Subject::new(identity(draw)));
    if subjects.is_empty() {
        return;
    }
    for _ in 0..draw.byte() {
        let who = draw.below(subjects.len() as u32) as usize;
        let subject = &mut subjects[who];
        let (identity, before) = (*subject.identity(), subject.latest());
        match draw.byte() {
            0 => {
                baseline.keys.clear();
                cache.clear();
            }
            1..=127 => {
                let signals = choose::signals(draw);
                let seen = admitted(&identity, signals);
                baseline.look_up((identity, sides(&seen.metrics())));
                assert_eq!(
                    cache.select(subject, &signals),
                    policy.select(&seen, before)
                );
            }
            _ => {
                let request = choose::request(draw);
                let seen = admitted(&identity, request.signals(0));
                let seen = seawall_core::topology::memory::ExecutionRequest {
                    fusion_pressure: seen.fusion_pressure,
                    ..request
                };
                if let Ok(sparse) = seen.footprint.plan(Topology::Sparse) {
                    baseline.look_up((
                        identity,
                        sides(&seen.signals(sparse.required_bytes).metrics()),
                    ));
                }
                assert_eq!(
                    cache.plan(subject, &request),
                    policy.plan_execution(&seen, before)
                );
            }
        }
        assert_eq!(cache.counters(), baseline.counters);
        assert_eq!(
            (cache.len(), cache.is_empty()),
            (baseline.keys.len(), baseline.keys.is_empty())
        );
    }
}
