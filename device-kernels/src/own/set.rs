//! Waves of another crate, and sets of them.

use super::machine::{Machine, On, Recorder};
use super::running::{Rights, Running};
use crate::collectives::context::ContextRef;
use crate::machine::Grid;
use crate::machine::memory::none_missed;
use crate::tables;
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::facts::Facts;
use seawall_core::abi::own::Declaration;

/// A wave that another crate defines.
pub trait Wave: 'static {
    /// Its name, for traces and faults.
    const NAME: &'static str;

    /// Facts about its registers, the arrays that it reads and its work. A host plans by
    /// them and cannot see whether they are true; a CPU session that checks facts compares
    /// them with the accesses of the wave.
    const FACTS: Facts;

    /// Runs it. The code of an item must end by itself: a run that is cancelled ends
    /// between items on CPU threads, and between waves on a GPU. Each lane calls this, and
    /// all lanes agree on what it returns.
    ///
    /// # Errors
    /// The fault that ends the run; [`FaultCode::BadParameter`] for parameters without a
    /// meaning.
    fn run<M: Machine>(wave: &mut Running<'_, M>) -> Result<(), FaultCode>;
}

/// A set of waves: a tuple of up to twelve. The number of a wave is its place.
pub trait Waves: sealed::Sealed + 'static {
    /// The declarations, by number.
    const LIST: &'static [Declaration];

    #[doc(hidden)]
    fn run<G: Grid, R: Recorder>(
        cx: ContextRef<G>,
        number: u32,
        wave: tables::Wave,
    ) -> Result<(), FaultCode>;

    #[doc(hidden)]
    fn is_word_wise(number: u32) -> bool;
}

mod sealed {
    pub trait Sealed {}
}

/// Runs wave `W`, which has a separate function: codegen rule `OWN_FUNCTION`.
#[inline(never)]
fn run_one<W: Wave, G: Grid, R: Recorder>(
    cx: ContextRef<G>,
    number: u32,
    wave: tables::Wave,
) -> Result<(), FaultCode> {
    let mut running = Running::<On<G, R>>::new(cx, wave, const { Rights::of(&W::FACTS) });
    if R::RECORDS {
        R::begin(running.started(number, W::FACTS));
    }
    let done = W::run(&mut running);
    R::end(done.is_ok());
    done?;
    none_missed(cx.grid())
}

macro_rules! sets {
    ($(($($wave:ident $number:literal),+))+) => {$(
        impl<$($wave: Wave),+> sealed::Sealed for ($($wave,)+) {}

        impl<$($wave: Wave),+> Waves for ($($wave,)+) {
            const LIST: &'static [Declaration] =
                &[$(Declaration::new($wave::NAME, $wave::FACTS)),+];

            #[inline(always)]
            fn run<Grd: Grid, Rec: Recorder>(
                cx: ContextRef<Grd>,
                number: u32,
                wave: tables::Wave,
            ) -> Result<(), FaultCode> {
                $(if number == $number {
                    return run_one::<$wave, Grd, Rec>(cx, number, wave);
                })+
                Err(FaultCode::UnknownOpcode)
            }

            #[inline(always)]
            fn is_word_wise(number: u32) -> bool {
                $((number == $number && $wave::FACTS.word_wise))||+
            }
        }
    )+};
}

sets! {
    (A 0)
    (A 0, B 1)
    (A 0, B 1, C 2)
    (A 0, B 1, C 2, D 3)
    (A 0, B 1, C 2, D 3, E 4)
    (A 0, B 1, C 2, D 3, E 4, F 5)
    (A 0, B 1, C 2, D 3, E 4, F 5, H 6)
    (A 0, B 1, C 2, D 3, E 4, F 5, H 6, I 7)
    (A 0, B 1, C 2, D 3, E 4, F 5, H 6, I 7, J 8)
    (A 0, B 1, C 2, D 3, E 4, F 5, H 6, I 7, J 8, K 9)
    (A 0, B 1, C 2, D 3, E 4, F 5, H 6, I 7, J 8, K 9, L 10)
    (A 0, B 1, C 2, D 3, E 4, F 5, H 6, I 7, J 8, K 9, L 10, N 11)
}
