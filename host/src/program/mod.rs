//! Wave programs: what runs, on which registers, in which order.

pub mod encoded;
