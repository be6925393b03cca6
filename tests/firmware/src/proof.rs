//! A panic handler that no image may need.
//!
//! It calls an undefined function. The linker drops an unreachable handler, so an image links
//! exactly if no panic path is left in it.

use core::panic::PanicInfo;

unsafe extern "C" {
    fn a_panic_path_remains() -> !;
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    // SAFETY: never called, since an image with this call in it does not link.
    unsafe { a_panic_path_remains() }
}
