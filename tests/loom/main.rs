//! The ring's protocol and the barriers of a grid and of all devices under the model checker: all interleavings of a few
//! threads, on a few slots, and all values that relaxed loads may return.
//!
//! Each of their orders is removed in turn (`mutation`), by the name of its place.
//!
//! Loom does not model load buffering, nor the scopes of a GPU: this is no proof for one.

mod admits;
mod barrier;
mod devices;
mod lane;
mod mutation;
mod poison;

mod protocol;
mod words;
