#![no_std]
#![no_main]
//! The whole planner: linked to be measured, never started.

use core::hint::black_box;
use core::mem::MaybeUninit;

use seawall_core::topology::TopologyPolicy;
use seawall_firmware::program::PROGRAM;
use seawall_firmware::steps::{self, ArenaRoom, CacheRoom, ExecutionRoom, GroupRoom, LayerRoom};

/// Working memory. All zeroes, so it costs no flash.
struct Room {
    layers: LayerRoom,
    groups: GroupRoom,
    arena: ArenaRoom,
    execution: ExecutionRoom,
}

static mut ROOM: Room = Room {
    layers: LayerRoom::new(),
    groups: GroupRoom::new(),
    arena: ArenaRoom::new(),
    execution: ExecutionRoom::new(),
};

/// Holds its policy from the start, so as a `static` of its own value it would take flash.
static mut CACHE: MaybeUninit<CacheRoom> = MaybeUninit::uninit();

/// Entry of the image. Inputs are opaque, so that nothing is decided at compile time.
#[unsafe(no_mangle)]
pub extern "C" fn _start() -> ! {
    // SAFETY: the image has one thread and enters here once, so these are the only references.
    let (room, cache) = unsafe { (&mut *&raw mut ROOM, &mut *&raw mut CACHE) };
    let cache = cache.write(CacheRoom::new(TopologyPolicy::DEFAULT));
    let program = black_box(&PROGRAM);
    let _ = black_box(steps::layers(program, &mut room.layers));
    if let Ok(groups) = black_box(steps::groups(program, &mut room.groups)) {
        let _ = black_box(steps::arena(program, &groups, &mut room.arena));
    }
    let _ = black_box(steps::policies(program, cache));
    let _ = black_box(steps::execution(program, cache, &mut room.execution));
    loop {}
}
