//! Plans for several devices: every reader across devices has what it reads, and no way to place
//! the exchanges has fewer.

use crate::support::*;
use proptest::prelude::*;
use seawall_core::cache::{AnalysisKind, DeviceKey, Identity, Subject};
use seawall_core::error::{ScratchField, ScratchTooSmall};
use seawall_core::plan::devices::{Prices, Scope, WaveCut, devices, least_budget};
use seawall_core::plan::execution::{Chooser, Request};
use seawall_core::plan::{
    ArenaOptions, Budget, Dag, DevicesError, DevicesPlan, ExecutionError, Strategy as Grouping,
    Wave, WaveId, execution,
};
use seawall_core::scratch::DevicesScratchView;
use seawall_core::topology::TopologyPolicy;

const POLICY: TopologyPolicy = TopologyPolicy::DEFAULT;

/// Buffers beside those of an execution, exactly as large as required.
struct More {
    waves: Vec<Wave>,
    words: Vec<u32>,
    bytes: Vec<u64>,
    dependencies: Vec<u32>,
}

impl More {
    /// Filled with a pattern, so that a plan that counts on zeros fails.
    fn of(waves: usize, dependencies: usize) -> Self {
        let wave = Wave {
            frontier_bytes: u64::MAX,
            scratch_bytes: u64::MAX,
            output_bytes: u64::MAX,
        };
        Self {
            waves: vec![wave; waves],
            words: vec![0xAAAA_AAAA; 4 * waves],
            bytes: vec![0xAAAA_AAAA; waves],
            dependencies: vec![0xAAAA_AAAA; dependencies],
        }
    }

    fn view(&mut self) -> DevicesScratchView<'_> {
        let Self {
            waves,
            words,
            bytes,
            dependencies,
        } = self;
        DevicesScratchView::new(waves, words, bytes, dependencies)
    }
}

fn subject() -> Subject {
    Subject::new(Identity {
        graph_layout_hash: 1,
        analysis: AnalysisKind::Dataflow,
        device: DeviceKey::default(),
    })
}

fn plan<'a>(
    request: &Request<'a>,
    count: u32,
    cuts: &[WaveCut],
    buffers: &'a mut Buffers,
    more: &'a mut More,
) -> Result<DevicesPlan<'a>, DevicesError> {
    let mut subject = subject();
    let chooser = Chooser::plain(&POLICY, &mut subject);
    devices(
        request,
        count,
        cuts,
        chooser,
        buffers.execution(),
        more.view(),
    )
}

fn request<'a>(dag: Dag<'a>, strategy: Grouping) -> Request<'a> {
    let budget = Budget {
        resident_bytes: 1001,
        budget_bytes: u64::MAX,
        readback_bytes: 0,
    };
    Request {
        strategy,
        arena: ArenaOptions {
            alignment_bytes: 1,
            ..ArenaOptions::default()
        },
        ..Request::new(dag, budget)
    }
}

fn cut() -> impl Strategy<Value = WaveCut> {
    let (own, total) = (WaveCut::OWN_NODES, WaveCut::TOTAL);
    prop::sample::select(vec![WaveCut::default(), own, total, own.with(total)])
}

fn case() -> impl Strategy<Value = (Program, Vec<WaveCut>)> {
    any_program(24).prop_flat_map(|program| {
        let cuts = prop::collection::vec(cut(), program.waves.len());
        (Just(program), cuts)
    })
}

/// The outputs that have to be exchanged, each with the first and the last group after which they
/// can be.
fn intervals(program: &Program, cuts: &[WaveCut], group_of: &[u32]) -> Vec<Option<(u32, u32)>> {
    let mut found = vec![None; program.waves.len()];
    for record in &program.dependencies {
        let [before, after] = [record.before, record.after].map(|wave| wave as usize);
        if cuts[before].is_total() || cuts[after].reads_all() {
            let last = group_of[after] - 1;
            let own = found[before].get_or_insert((group_of[before], last));
            own.1 = own.1.min(last);
        }
    }
    found
}

/// The most intervals of which no two have a point in common: no fewer points meet all.
fn apart(intervals: &[Option<(u32, u32)>]) -> usize {
    let mut sorted: Vec<_> = intervals.iter().flatten().collect();
    sorted.sort_by_key(|interval| interval.1);
    let (mut count, mut end) = (0, None);
    for (first, last) in sorted {
        if end.is_none_or(|end| *first > end) {
            (count, end) = (count + 1, Some(*last));
        }
    }
    count
}

/// The most readings across devices on a path that ends in `wave`.
fn chain(program: &Program, cuts: &[WaveCut], wave: usize, known: &mut [Option<u64>]) -> u64 {
    if let Some(known) = known[wave] {
        return known;
    }
    let mut most = 0;
    for record in &program.dependencies {
        if record.after as usize == wave {
            let before = record.before as usize;
            let crossed = cuts[before].is_total() || cuts[wave].reads_all();
            most = most.max(chain(program, cuts, before, known) + u64::from(crossed));
        }
    }
    known[wave] = Some(most);
    most
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn exchanges_come_in_time_and_are_the_fewest(
        (program, cuts) in case(), count in 2..9_u32, in_order in any::<bool>(),
    ) {
        let (waves, records) = (program.waves.len(), program.dependencies.len());
        let (mut buffers, mut more) = (Buffers::for_program(&program), More::of(waves, records));
        let strategy = if in_order { Grouping::InOrder } else { Grouping::Packed };
        let request = request(program.dag(), strategy);
        let plan = plan(&request, count, &cuts, &mut buffers, &mut more).unwrap();
        let mut group_of = vec![0; waves];
        for (number, group) in (0..).zip(plan.execution.groups.iter()) {
            for wave in group.waves {
                group_of[wave.index()] = number;
            }
        }
        let intervals = intervals(&program, &cuts, &group_of);
        let exchanges = plan.exchanges;
        let places: Vec<u32> = exchanges.iter().map(|exchange| exchange.after_group).collect();
        prop_assert!(places.is_sorted_by(|a, b| a < b), "{:?}", places);
        let mut received = vec![0; exchanges.len()];
        for (wave, interval) in (0..).zip(&intervals) {
            let carrier = exchanges.of(WaveId(wave));
            prop_assert_eq!(carrier.is_some(), interval.is_some(), "wave {}", wave);
            let (Some(carrier), Some((first, last))) = (carrier, interval) else { continue };
            prop_assert!((*first..=*last).contains(&places[carrier]), "wave {}", wave);
            let (bytes, others) = (program.waves[wave as usize].output_bytes, u64::from(count) - 1);
            let is_total = cuts[wave as usize].is_total();
            received[carrier] += if is_total { bytes * others } else { bytes - bytes / u64::from(count) };
            prop_assert_eq!(exchanges.carriers().nth(wave as usize), Some(Some(carrier)));
        }
        let found: Vec<u64> = exchanges.iter().map(|exchange| exchange.received_bytes).collect();
        prop_assert_eq!(&found, &received);
        prop_assert_eq!(exchanges.received_bytes(), received.iter().sum::<u64>());
        prop_assert_eq!(exchanges.len(), apart(&intervals));
        let mut known = vec![None; waves];
        let bound = (0..waves).map(|wave| chain(&program, &cuts, wave, &mut known)).max();
        prop_assert_eq!(exchanges.lower_bound(), bound.unwrap_or(0));
        prop_assert!(exchanges.lower_bound() <= exchanges.len() as u64);
        // Nobody pays for more room than the share of a device.
        let whole = |wave: usize| intervals[wave].is_some() || cuts[wave].is_total();
        for (at, (wave, share)) in program.waves.iter().zip(plan.execution.groups.waves()).enumerate() {
            let part = |bytes: u64| bytes.div_ceil(u64::from(count));
            let output = if whole(at) { wave.output_bytes } else { part(wave.output_bytes) };
            let wanted = Wave {
                frontier_bytes: part(wave.frontier_bytes),
                scratch_bytes: part(wave.scratch_bytes),
                output_bytes: output,
            };
            prop_assert_eq!(*share, wanted);
        }
    }

    #[test]
    fn one_device_has_the_plan_of_one((program, cuts) in case()) {
        let (waves, records) = (program.waves.len(), program.dependencies.len());
        let (mut buffers, mut more) = (Buffers::for_program(&program), More::of(waves, records));
        let request = request(program.dag(), Grouping::Packed);
        let plan = plan(&request, 1, &cuts, &mut buffers, &mut more).unwrap();
        let mut others = Buffers::for_program(&program);
        let mut subject = subject();
        let alone = execution(&request, Chooser::plain(&POLICY, &mut subject), others.execution());
        let alone = alone.unwrap();
        prop_assert!(plan.exchanges.is_empty() && plan.exchanges.lower_bound() == 0);
        prop_assert_eq!(plan.execution.groups.order(), alone.groups.order());
        prop_assert_eq!(plan.execution.required_bytes, alone.required_bytes);
        let prediction = plan.predict(&program.waves, 1001, &Prices::default());
        prop_assert_eq!(prediction.one_ns, prediction.all_ns);
    }

    /// The least budget of a device works, and no smaller one does.
    #[test]
    fn the_least_budget_is_that_of_a_device((program, cuts) in case(), count in 1..9_u32) {
        let (waves, records) = (program.waves.len(), program.dependencies.len());
        let mut request = request(program.dag(), Grouping::Packed);
        let (mut buffers, mut more) = (Buffers::for_program(&program), More::of(waves, records));
        let least = least_budget(&request, count, &cuts, buffers.execution(), more.view()).unwrap();
        request.budget.budget_bytes = least;
        prop_assert!(plan(&request, count, &cuts, &mut buffers, &mut more).is_ok());
        // A resident graph alone needs its bytes.
        request.budget.budget_bytes = least.saturating_sub(1);
        prop_assert!(least == 0 || plan(&request, count, &cuts, &mut buffers, &mut more).is_err());
    }

    #[test]
    fn budgets_are_kept_by_each_device((program, cuts) in case(), count in 2..9_u32, budget in 1000..9000_u64) {
        let (waves, records) = (program.waves.len(), program.dependencies.len());
        let (mut buffers, mut more) = (Buffers::for_program(&program), More::of(waves, records));
        let mut request = request(program.dag(), Grouping::Packed);
        request.budget.budget_bytes = budget;
        match plan(&request, count, &cuts, &mut buffers, &mut more) {
            Ok(plan) => prop_assert!(plan.execution.required_bytes <= budget),
            Err(DevicesError::Execution(_)) => {
                let mut others = Buffers::for_program(&program);
                let mut subject = subject();
                let chooser = Chooser::plain(&POLICY, &mut subject);
                // If several devices cannot hold it, one cannot.
                prop_assert!(execution(&request, chooser, others.execution()).is_err());
            }
            Err(error) => prop_assert!(false, "{}", error),
        }
    }
}

#[test]
fn what_cannot_be_planned_is_refused_with_the_numbers() {
    let mut random = Random(7);
    let program = random.program(5, 50, 100);
    let records = program.dependencies.len();
    let cuts = [WaveCut::default(); 5];
    let request = request(program.dag(), Grouping::Packed);
    let refused = |count, cuts: &[WaveCut], more: &mut More| {
        let mut buffers = Buffers::for_program(&program);
        plan(&request, count, cuts, &mut buffers, more)
            .map(drop)
            .unwrap_err()
    };
    let mut enough = More::of(5, records);
    assert_eq!(
        refused(0, &cuts, &mut enough),
        DevicesError::Count { devices: 0 }
    );
    assert_eq!(
        refused(65_537, &cuts, &mut enough),
        DevicesError::Count { devices: 65_537 }
    );
    assert_eq!(
        refused(2, &cuts[..4], &mut enough),
        DevicesError::Cuts { waves: 5, cuts: 4 }
    );
    let short = |field, needed: usize| {
        DevicesError::ScratchTooSmall(ScratchTooSmall {
            field,
            needed: needed as u64,
            capacity: needed as u64 - 1,
        })
    };
    let few_waves = refused(2, &cuts, &mut More::of(4, records));
    assert_eq!(few_waves, short(ScratchField::DevicesWaves, 5));
    let few_records = refused(2, &cuts, &mut More::of(5, records - 1));
    assert_eq!(
        few_records,
        short(ScratchField::DevicesDependencies, records)
    );
    let mut cyclic = program.clone();
    let mut back = cyclic.dependencies[0];
    (back.before, back.after) = (back.after, back.before);
    cyclic.dependencies.push(back);
    let request = Request::new(cyclic.dag(), Budget::default());
    let (mut buffers, mut more) = (Buffers::for_program(&cyclic), More::of(5, records + 1));
    let error = plan(&request, 2, &cuts, &mut buffers, &mut more).unwrap_err();
    assert!(
        matches!(error, DevicesError::Execution(ExecutionError::Groups(_))),
        "{error}"
    );
}

/// Large outputs that stay on their device are worth several devices; small ones are not.
#[test]
fn the_prediction_says_when_one_device_is_faster() {
    let dependencies = chain_of(8);
    let own = WaveCut::OWN_NODES;
    let predict = |bytes: u64, cut: WaveCut| {
        let waves = vec![
            Wave {
                frontier_bytes: bytes,
                scratch_bytes: 0,
                output_bytes: bytes
            };
            8
        ];
        let program = Program {
            waves,
            dependencies: dependencies.clone(),
        };
        let (mut buffers, mut more) = (Buffers::for_program(&program), More::of(8, 7));
        let request = request(program.dag(), Grouping::Packed);
        let plan = plan(&request, 4, &[cut; 8], &mut buffers, &mut more).unwrap();
        let prices = Prices::default();
        (
            plan.exchanges.len(),
            plan.predict(&program.waves, 0, &prices),
        )
    };
    let (count, small) = predict(1000, WaveCut::default());
    assert!(count == 7 && small.is_one_faster(), "{small:?}");
    let (count, large) = predict(1 << 30, own);
    assert!(count == 0 && !large.is_one_faster(), "{large:?}");
    // Sixteen times 2^30 bytes at 4.24 TB/s, and seven barriers of a grid.
    assert_eq!(large.one_ns, (16_u64 << 30).div_ceil(4_240) + 7 * 830);
    let (_, exchanged) = predict(1 << 30, WaveCut::default());
    assert!(exchanged.is_one_faster(), "{exchanged:?}");
    let prices = Prices::default();
    assert!(prices.barrier_ns(Scope::System) > prices.barrier_ns(Scope::Grid));
    assert_eq!(prices.exchange_ns(345_000), 1_000 + 3_550);
    let most = prices.exchange_ns(u64::MAX);
    assert_eq!(
        most,
        (u128::from(u64::MAX) * 1_000).div_ceil(345_000) as u64 + 3_550
    );
}

fn chain_of(waves: u32) -> Vec<seawall_core::plan::Dependency> {
    let link = |before| seawall_core::plan::Dependency {
        before,
        after: before + 1,
    };
    (0..waves - 1).map(link).collect()
}
