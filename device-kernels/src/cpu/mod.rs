//! Algorithms for CPU threads alone. Steps that share the state of an algorithm for all machines
//! lie with it, in modules named `threads`.

pub mod sequential;
