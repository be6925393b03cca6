//! Taint: which data from chosen sources reaches chosen sinks, across calls.
//!
//! 1. Every function becomes a graph of values (`values/function.rs`): what an operation makes
//!    depends on its operands, what a join of ways makes on all that come in, for locals, globals,
//!    memory and the stack alike. Globals are parameters and results of every function, so that a
//!    global that is overwritten before it is read is safe. Only values that matter stay, each once
//!    (`values/condense.rs`).
//! 2. Summaries (`summary.rs`): which outputs of a function depend on which inputs, a word of bits a
//!    value. Functions are followed callees first, and again when a callee has changed: at a call, an
//!    argument flows to a result if the present summary of the callee says so.
//! 3. Data from a source first goes up to callers, then down into callees, over summaries across
//!    calls. What went down never comes up again at another call, so that answers are those of
//!    matching calls and returns alone. Neither values nor summaries depend on sources and sinks. A
//!    program that is asked once follows up to 64 sources at a time (`wide.rs`). Of one that stays
//!    resident (`session.rs`), flows are laid out (`flow.rs`), and a question is a search
//!    (`reach.rs`) that stops where it has its answer and goes on there for the next one.
//! 4. A finding has one way from the source to the sink (`witness.rs`), which is searched among
//!    inputs and outputs of functions, and goes along all values of the functions on it, which are
//!    made anew.
//!
//! The same question is one of reachability under a grammar of few symbols (`grammar.rs`).
//!
//! Not followed: which of several ways was taken (implicit flow), addresses that choose what is
//! loaded, values that exceptions carry, and data that an import puts in memory, unless that is
//! named as a source. Memory is one cell, and no store cleans it.

mod ends;
mod flow;
mod reach;
mod session;
mod spec;
mod summary;
mod wide;
mod witness;
mod grammar;
#[cfg(test)]
mod plain;

pub use grammar::{GRAMMAR, TaintGraph};
pub use session::{TaintAnswer, TaintQuestion, TaintSession, TaintWork};
pub use spec::{Port, Spec};
