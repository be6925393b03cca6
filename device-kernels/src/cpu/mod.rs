//! What exists for CPU threads alone, apart from the steps that share the state of an algorithm for
//! all machines: those lie with it, in modules named `threads`.

pub mod sequential;
