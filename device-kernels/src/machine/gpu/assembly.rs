//! Memory accesses as inline assembly, one macro for each kind.
//!
//! Each expands to an `unsafe` block: the methods that use them promise its requirements.

/// The modifier of a load whose line will not be used again, on machines that have it.
#[cfg(seawall_sm = "90")]
macro_rules! streaming {
    () => {
        ".L1::no_allocate"
    };
}
#[cfg(not(seawall_sm = "90"))]
macro_rules! streaming {
    () => {
        ""
    };
}

/// The value of a special register.
macro_rules! special_register {
    ($name:literal) => {{
        let value: u32;
        // SAFETY: reading a special register has no effect.
        unsafe { core::arch::asm!(concat!("mov.u32 {}, ", $name, ";"), out(reg32) value, options(pure, nomem, nostack)) };
        value
    }};
}

/// The address of a symbol in shared memory.
macro_rules! address_of {
    ($symbol:literal) => {{
        let address: u32;
        // SAFETY: taking an address has no effect.
        unsafe { core::arch::asm!(concat!("mov.u32 {}, ", $symbol, ";"), out(reg32) address, options(pure, nomem, nostack)) };
        address
    }};
}

/// Loads a word, or a pair of words, that no other lane writes before the next barrier.
macro_rules! load {
    ("ld.global.u64", $class:ident $address:expr) => {{
        let value: u64;
        // SAFETY: the pair is valid and aligned, by the method's contract.
        unsafe { core::arch::asm!("ld.global.u64 {}, [{}];", out(reg64) value, in($class) $address, options(pure, readonly, nostack)) };
        value
    }};
    ($operation:literal, $class:ident $address:expr) => {{
        let value: u32;
        // SAFETY: the word is valid, by the method's contract.
        unsafe { core::arch::asm!(concat!($operation, " {}, [{}];"), out(reg32) value, in($class) $address, options(pure, readonly, nostack)) };
        value
    }};
}

/// Loads four such words; `$memory` is `readonly`, or `nomem` if nothing writes them.
macro_rules! load4 {
    ($operation:expr, $class:ident $address:expr, $memory:ident) => {{
        let (first, second, third, fourth): (u32, u32, u32, u32);
        // SAFETY: the words are valid and aligned, by the method's contract.
        unsafe {
            core::arch::asm!(
                concat!($operation, " {{{}, {}, {}, {}}}, [{}];"),
                out(reg32) first, out(reg32) second, out(reg32) third, out(reg32) fourth,
                in($class) $address, options(pure, $memory, nostack)
            );
        }
        [first, second, third, fourth]
    }};
}

/// Loads a word, or a pair of words, as the device sees it now.
macro_rules! load_now {
    ($operation:expr, $to:ident $address:expr) => {{
        let value;
        // SAFETY: the word is valid, by the method's contract.
        unsafe { core::arch::asm!(concat!($operation, " {}, [{}];"), out($to) value, in(reg64) $address, options(nostack)) };
        value
    }};
}

/// Writes a word, or a pair of words.
macro_rules! store {
    ($operation:expr, $class:ident $address:expr, reg64 $value:expr) => {
        // SAFETY: the pair is valid and aligned, by the method's contract.
        unsafe { core::arch::asm!(concat!($operation, " [{}], {};"), in($class) $address, in(reg64) $value, options(nostack)) }
    };
    ($operation:expr, $class:ident $address:expr, $value:expr) => {
        // SAFETY: the word is valid, by the method's contract.
        unsafe { core::arch::asm!(concat!($operation, " [{}], {};"), in($class) $address, in(reg32) $value, options(nostack)) }
    };
}

/// Writes four words side by side.
macro_rules! store4 {
    ($operation:literal, $class:ident $address:expr, $values:expr) => {{
        let [first, second, third, fourth] = $values;
        // SAFETY: the words are valid and aligned, by the method's contract.
        unsafe {
            core::arch::asm!(
                concat!($operation, " [{}], {{{}, {}, {}, {}}};"),
                in($class) $address,
                in(reg32) first, in(reg32) second, in(reg32) third, in(reg32) fourth,
                options(nostack)
            );
        }
    }};
}

/// Changes a word, or a pair of words, and returns the previous value.
macro_rules! atomic {
    ($operation:expr, $class:ident $address:expr, $of:ident $value:expr) => {{
        let previous;
        // SAFETY: the word is valid, by the method's contract.
        unsafe { core::arch::asm!(concat!("atom.", $operation, " {}, [{}], {};"), out($of) previous, in($class) $address, in($of) $value, options(nostack)) };
        previous
    }};
}

/// Loads a word that no other lane writes before the next barrier, if it is wanted.
macro_rules! load_if {
    ($operation:literal, $wanted:expr, $address:expr, $otherwise:expr) => {{
        let value: u32;
        // SAFETY: the word is valid if it is wanted, by the method's contract.
        unsafe {
            core::arch::asm!(
                "{{ .reg .pred %wanted; setp.ne.u32 %wanted, {wanted}, 0;",
                "mov.b32 {value}, {otherwise};",
                concat!("@%wanted ", $operation, " {value}, [{address}]; }}"),
                value = out(reg32) value, wanted = in(reg32) u32::from($wanted),
                address = in(reg64) $address, otherwise = in(reg32) $otherwise,
                options(pure, readonly, nostack)
            );
        }
        value
    }};
}

/// Changes a word, if it is wanted, and returns the previous value.
macro_rules! atomic_if {
    ($operation:literal, $wanted:expr, $address:expr, $values:expr) => {{
        let [change, otherwise] = $values;
        let previous: u32;
        // SAFETY: the word is valid if it is wanted, by the method's contract.
        unsafe {
            core::arch::asm!(
                "{{ .reg .pred %wanted; setp.ne.u32 %wanted, {wanted}, 0;",
                "mov.b32 {previous}, {otherwise};",
                concat!("@%wanted atom.", $operation, " {previous}, [{address}], {change}; }}"),
                previous = out(reg32) previous, wanted = in(reg32) u32::from($wanted),
                address = in(reg64) $address, change = in(reg32) change,
                otherwise = in(reg32) otherwise, options(nostack)
            );
        }
        previous
    }};
}

/// Swaps a word if it is as expected, in an order and a scope.
macro_rules! swap {
    ($how:literal, $address:expr, $swap:expr) => {{
        let previous: u32;
        // SAFETY: the word is valid, by the method's contract.
        unsafe {
            core::arch::asm!(
                concat!("atom.", $how, ".global.cas.b32 {}, [{}], {}, {};"),
                out(reg32) previous, in(reg64) $address,
                in(reg32) $swap.expected, in(reg32) $swap.value, options(nostack)
            );
        }
        previous
    }};
}

/// [`load_now`], [`store`] and an addition in an order and a scope.
macro_rules! load_as {
    ($how:literal, $address:expr) => {
        load_now!(concat!("ld.", $how, ".global.u32"), reg32 $address)
    };
}
macro_rules! store_as {
    ($how:literal, $address:expr, $value:expr) => {
        store!(concat!("st.", $how, ".global.u32"), reg64 $address, $value)
    };
}
macro_rules! add_as {
    ($how:literal, $address:expr, $value:expr) => {
        atomic!(concat!($how, ".global.add.u32"), reg64 $address, reg32 $value)
    };
}

pub(super) use {
    add_as, address_of, atomic, atomic_if, load, load_as, load_if, load_now, load4,
    special_register, store, store_as, store4, streaming, swap,
};
