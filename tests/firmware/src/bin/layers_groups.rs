#![no_std]
#![no_main]
//! Only layers and groups: linked to be measured, never started.

use core::hint::black_box;

use seawall_firmware::program::PROGRAM;
use seawall_firmware::steps::{self, GroupSpace, LayerSpace};

static mut LAYERS: LayerSpace = LayerSpace::new();
static mut GROUPS: GroupSpace = GroupSpace::new();

/// Entry of the image. Inputs are opaque, so that nothing is decided at compile time.
#[unsafe(no_mangle)]
pub extern "C" fn _start() -> ! {
    // SAFETY: the image has one thread and enters here once, so these are the only references.
    let (layers, groups) = unsafe { (&mut *&raw mut LAYERS, &mut *&raw mut GROUPS) };
    let program = black_box(&PROGRAM);
    let _ = black_box(steps::layers(program, layers));
    let _ = black_box(steps::groups(program, groups));
    loop {}
}
