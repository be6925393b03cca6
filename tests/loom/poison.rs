//! Every word of slots and control block counts: changed before the workers look, it
//! changes what they do or what a host finds.
