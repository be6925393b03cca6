//! `cargo xtask embed`: the planner on a microcontroller, measured.
//!
//! Links images that hold no panic path and no allocator, with and without overflow checks.
//! Compares their flash with the budget and bounds their stack from the machine code. Then runs the
//! example in QEMU and compares its plan with the host's. The sources are in tests/firmware, a
//! separate workspace; nothing here knows how planning works.

mod budget;
mod calls;
mod compare;
mod emulate;
mod firmware;
mod images;
mod listing;
mod sections;

use clap::Args;

use crate::error::Error;
use crate::ptx::toolchain::{Route, Toolchain};

use self::calls::CallGraph;
use self::firmware::{Firmware, Profile};

/// The target whose stack is bounded and that runs in QEMU.
const MEASURED: &str = "thumbv7em-none-eabihf";
/// Every target that the images must link for.
const TARGETS: [&str; 3] = [
    MEASURED,
    "thumbv6m-none-eabi",
    "riscv32imac-unknown-none-elf",
];

/// Options of `embed`.
#[derive(Args)]
pub(crate) struct Options {
    /// Link and measure, but do not run the example in QEMU.
    #[arg(long)]
    no_run: bool,
    /// The compiler to use.
    #[arg(long, value_enum, default_value_t = Route::Auto)]
    toolchain: Route,
}

pub(crate) fn run(options: &Options) -> Result<(), Error> {
    let toolchain = Toolchain::find(options.toolchain)?;
    let firmware = Firmware::new(&toolchain);
    // First, as the measured images take the place of these.
    firmware.link_proofs(MEASURED, Profile::Checked)?;
    let rows = measure(&firmware)?;
    budget::print(&rows);
    budget::check(&rows)?;
    let graph = CallGraph::read(&firmware, MEASURED, "everything")?;
    graph.bound("_start")?;
    println!(
        "no image has a panic path or an allocator, nor one with overflow checks a panic path"
    );
    let stack = compare::worst(&graph)?;
    println!("everything: at most {stack} bytes of stack; no recursion, no indirect call");
    if options.no_run {
        println!("not run in QEMU, as asked");
        return Ok(());
    }
    compare::run(&firmware)
}

fn measure(firmware: &Firmware<'_>) -> Result<Vec<budget::Row>, Error> {
    let mut rows = Vec::new();
    for target in TARGETS {
        firmware.link_proofs(target, Profile::Release)?;
        for image in images::IMAGES {
            let sections = sections::Sections::of(firmware, target, image.name)?;
            rows.push(budget::Row {
                target,
                image,
                sections,
            });
        }
    }
    Ok(rows)
}
