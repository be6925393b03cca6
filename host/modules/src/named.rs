//! Enumerations by their names on the command line.

/// Declares an enumeration: of each variant its name, and a few words that document it and help.
macro_rules! named {
    (
        $(#[$about:meta])*
        $kind:ident { $($(#[$other:meta])* $one:ident = $name:literal: $summary:literal,)+ }
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $kind {
            $($(#[$other])* #[doc = $summary] $one,)+
        }

        impl $kind {
            /// All of them.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$one),+];

            /// The name.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$one => $name,)+
                }
            }

            /// A few words for help and reports.
            #[must_use]
            pub const fn summary(self) -> &'static str {
                match self {
                    $(Self::$one => $summary,)+
                }
            }
        }
    };
}

pub(crate) use named;
