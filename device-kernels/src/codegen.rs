//! Rules for code that `ptxas` and LLVM compile well.
//!
//! Code that seems roundabout follows one of the rules below and cites it by name. None changes a
//! result. Each was found by measuring or in the assembler's output, so a change to such code also
//! needs `cargo xtask golden` and `seawall bench`; the figures are in `docs/experiments.md`.
//!
//! # `BY_VALUE`
//!
//! A function that is not inlined takes words and no references. A reference leads to
//! local memory: each lane has its own copy, and the acquire of a grid barrier throws all
//! copies out of the first-level cache. With 1024 lanes a wave over four nodes took 25 µs
//! that way on an H200, and a barrier 1.26 to 1.30 µs instead of 0.95.
//!
//! Inside a function, `self` is copied before a loop for the same reason: the loop would
//! load a field anew each time. The exception is deliberate: the loop over the edges of
//! `algorithms::rank::gather_tiles` needs every register, so its function takes references and
//! leaves in local memory what the loop does not need.
//!
//! # `OWN_FUNCTION`
//!
//! A loop that matters is a separate function, `#[inline(never)]`, and gets its operands as words.
//! `ptxas` allots registers to a function as a whole; otherwise the operands of a loop would wait
//! in local memory while the code before it looks up registers and tables. A kernel then needs the
//! registers of its largest function, not of all together. More such functions are not always
//! better: with one for each kind of distance, `ptxas` 12.9 gives up registers for `sm_90`, and
//! relaxing whole distances spills half as much again.
//!
//! # `LOOK_UP_AGAIN`
//!
//! A caller looks up the context, the search and the drive record again after a call,
//! instead of holding on to them. A register that is live over a call is lost to the
//! callee or written to local memory. Shared memory holds one copy for the block, and its
//! words survive a barrier.
//!
//! # `NO_TABLES`
//!
//! No `match` and no constant array on the way to a wave may become a table. LLVM puts tables into
//! global memory, where each lookup costs an access to the second-level cache, 0.14 µs.
//! Comparisons, or bytes packed into a constant, stay in registers.
//!
//! # `NO_INDEXED_ARRAYS`
//!
//! No array is indexed by a variable, and no loop consumes an array by value, unless the
//! loop is unrolled: an array without a fixed index lives in local memory. Arrays are
//! destructured, or their elements rotate through variables.
//!
//! # `LOADS_TOGETHER`
//!
//! Loads come first, then the tests on what they return, and a missing element takes part with a
//! harmless value instead of branching. Several accesses are then in flight together; after a
//! branch, each would wait for the previous one.
//!
//! Loads that come first are not yet in flight together: `ptxas` moves the uses of a load up to it,
//! even in front of the next load, where it considers registers scarce. It does not move it across
//! a branch. So a branch that is needed anyway, such as a loop for rows that are longer than most,
//! stands between loads and their uses; or a loop loads the data of its next item, which is not
//! used before the loop's own branch (`Team::each_ahead`).
//!
//! # `PREDICATED`
//!
//! An access that some lanes leave out, one of several that are to be in flight together,
//! is a method that ends in `_if`. A branch around it makes its result a choice between
//! two registers, and that choice waits for the access before the next one begins: four
//! atomic operations in a row took four times as long as one.
//!
//! # `CONVERGE`
//!
//! Operations of all lanes are intrinsics, not assembly and not functions of the standard library
//! that call them, so that LLVM neither moves them under a condition nor copies them into both
//! branches. rustc itself has no such rule, so kernels are built without its `JumpThreading`: it
//! copied the barriers of `block_scan` into both branches of a condition before and after, and a
//! wave whose lanes took both branches hung. A warp barrier follows a loop that lanes leave one
//! after another: without it they stay diverged, and a shuffle takes a slow path.
