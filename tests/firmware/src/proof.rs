//! A panic handler that no image may need.
//!
//! It calls a function that nobody defines. The linker drops a handler that
//! nothing reaches, so an image links exactly when no panic path is left in it.

use core::panic::PanicInfo;

unsafe extern "C" {
    fn a_panic_path_remains() -> !;
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    // SAFETY: never called, since an image with this call in it does not link.
    unsafe { a_panic_path_remains() }
}
