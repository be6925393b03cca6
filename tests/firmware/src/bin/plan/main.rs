#![no_std]
#![no_main]
//! The example: plans the program on a Cortex-M and prints the cost.
//!
//! Logs go through defmt to standard output, the plan as text to standard error,
//! both by semihosting, so an emulator or a debug probe must be attached. The
//! exit status is 0 when every step succeeded.

mod measure;

use core::panic::PanicInfo;
use core::ptr;

use cortex_m::Peripherals;
use defmt_semihosting as _;
use seawall_core::topology::TopologyPolicy;
use seawall_firmware::program::{PROGRAM, Program};
use seawall_firmware::report::Report;
use seawall_firmware::steps::{self, ArenaSpace, CacheSpace, ExecutionSpace, GroupSpace, LayerSpace};
use semihosting::{eprint, eprintln, process};

use crate::measure::Meter;

/// All memory that planning takes.
struct Room {
    layers: LayerSpace,
    groups: GroupSpace,
    arena: ArenaSpace,
    execution: ExecutionSpace,
    cache: CacheSpace,
}

#[cortex_m_rt::entry]
fn main() -> ! {
    let space = cortex_m::singleton!(ROOM: Room = Room {
        layers: LayerSpace::new(),
        groups: GroupSpace::new(),
        arena: ArenaSpace::new(),
        execution: ExecutionSpace::new(),
        cache: CacheSpace::new(TopologyPolicy::DEFAULT),
    });
    let (Some(space), Some(peripherals)) = (space, Peripherals::take()) else {
        process::exit(2)
    };
    // A volatile read, so that the compiler cannot plan at compile time.
    let program: &Program = opaque(&PROGRAM);
    process::exit(run(program, space, &mut Meter::new(peripherals.SYST)))
}

/// Plans and reports; the exit status.
fn run(program: &Program, space: &'static mut Room, meter: &mut Meter) -> i32 {
    let waves = program.dag.waves.len();
    let dependencies = program.dag.dependencies.len();
    defmt::info!(
        "planning {=usize} waves with {=usize} dependencies",
        waves,
        dependencies
    );
    let layers = meter.measure("layers", || steps::layers(program, &mut space.layers));
    let groups = meter.measure("groups", || steps::groups(program, &mut space.groups));
    let policies = meter.measure("policies", || steps::policies(program, &mut space.cache));
    let (layers, groups, policies) = match (layers, groups, policies) {
        (Ok(layers), Ok(groups), Ok(policies)) => (layers, groups, policies),
        (layers, groups, _) => {
            defmt::error!("no plan: {} {}", layers.err(), groups.err());
            return 1;
        }
    };
    let arena = match meter.measure("arena", || steps::arena(program, &groups, &mut space.arena)) {
        Ok(arena) => arena,
        Err(error) => {
            defmt::error!("no arena: {}", error);
            return 1;
        }
    };
    let execution = meter.measure("execution", || {
        steps::execution(program, &mut space.cache, &mut space.execution)
    });
    let execution = match execution {
        Ok(execution) => execution,
        Err(error) => {
            defmt::error!("no execution: {}", error);
            return 1;
        }
    };
    defmt::info!(
        "{=usize} layers, {=usize} groups",
        layers.len(),
        groups.len()
    );
    defmt::info!("{}", groups.summary());
    defmt::info!(
        "arena of {=u64} bytes, at least {=u64}",
        arena.bytes(),
        arena.lower_bound()
    );
    defmt::info!("{} {}", policies.decision, policies.launch);
    defmt::info!("{}", policies.session);
    eprint!(
        "{}",
        Report {
            layers,
            groups,
            arena,
            policies,
            execution
        }
    );
    eprintln!("measured static space={}", size_of::<Room>());
    0
}

fn opaque<T>(value: &'static T) -> &'static T {
    let address: *const T = value;
    // SAFETY: reads a pointer from a local that holds one to a `static`; the value is not moved.
    unsafe { &*ptr::read_volatile(&address) }
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    process::exit(101)
}
