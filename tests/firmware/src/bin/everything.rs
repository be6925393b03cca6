#![no_std]
#![no_main]
//! The whole planner: linked to be measured, never started.

use core::hint::black_box;
use core::mem::MaybeUninit;

use seawall_core::topology::TopologyPolicy;
use seawall_firmware::program::PROGRAM;
use seawall_firmware::steps::{self, ArenaSpace, CacheSpace, ExecutionSpace, GroupSpace, LayerSpace};

/// Working memory. All zeroes, so it costs no flash.
struct Room {
    layers: LayerSpace,
    groups: GroupSpace,
    arena: ArenaSpace,
    execution: ExecutionSpace,
}

static mut ROOM: Room = Room {
    layers: LayerSpace::new(),
    groups: GroupSpace::new(),
    arena: ArenaSpace::new(),
    execution: ExecutionSpace::new(),
};

/// Contains its policy from the start, so as an initialised `static` it would take flash.
static mut CACHE: MaybeUninit<CacheSpace> = MaybeUninit::uninit();

/// Entry of the image. Inputs are opaque, so that nothing is decided at compile time.
#[unsafe(no_mangle)]
pub extern "C" fn _start() -> ! {
    // SAFETY: the image has one thread and enters here once, so these are the only references.
    let (space, cache) = unsafe { (&mut *&raw mut ROOM, &mut *&raw mut CACHE) };
    let cache = cache.write(CacheSpace::new(TopologyPolicy::DEFAULT));
    let program = black_box(&PROGRAM);
    let _ = black_box(steps::layers(program, &mut space.layers));
    if let Ok(groups) = black_box(steps::groups(program, &mut space.groups)) {
        let _ = black_box(steps::arena(program, &groups, &mut space.arena));
    }
    let _ = black_box(steps::policies(program, cache));
    let _ = black_box(steps::execution(program, cache, &mut space.execution));
    loop {}
}
