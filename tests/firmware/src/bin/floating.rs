#![no_std]
#![no_main]
//! Only tuning and the evidence gate: linked to be measured, never started.

use core::hint::black_box;

use seawall_firmware::floating;
use seawall_firmware::program::TUNING;

/// Entry of the image. Inputs are opaque, so that nothing is decided at compile time.
#[unsafe(no_mangle)]
pub extern "C" fn _start() -> ! {
    let tuning = black_box(&TUNING);
    let mut priorities = black_box([1.0; 3]);
    let _ = black_box(floating::tune(tuning, &mut priorities));
    let _ = black_box(floating::judge(tuning));
    loop {}
}
