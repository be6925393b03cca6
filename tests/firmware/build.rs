//! Passes the memory map and the linker scripts only to the example.
//!
//! The proof images need neither: they are linked and measured, never started.

use std::path::PathBuf;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed=memory.x");
    if env::var_os("CARGO_FEATURE_RUN").is_none() {
        return Ok(());
    }
    let folder = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    fs::copy("memory.x", folder.join("memory.x"))?;
    println!("cargo:rustc-link-search={}", folder.display());
    for argument in ["--nmagic", "-Tlink.x", "-Tdefmt.x"] {
        println!("cargo:rustc-link-arg-bin=plan={argument}");
    }
    Ok(())
}
