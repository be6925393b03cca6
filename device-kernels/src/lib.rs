#![no_std]
//! Wave machine.
