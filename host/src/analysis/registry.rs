//! The list of analyses: one line each.

use super::definition::HasFacts;
use super::{Analysis, Facts};
use serde::{Serialize, Serializer};
use std::fmt;

/// Defines the kinds of analyses from their modules.
macro_rules! registry {
    ($($module:ident::$kind:ident,)*) => {
        /// An analysis of a graph, by name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum AnalysisKind {
            $(
                #[doc = concat!("`", stringify!($kind), "`; [`Self::summary`] says what it finds.")]
                $kind,
            )*
        }

        impl AnalysisKind {
            /// Every analysis, in the order of reports.
            pub const ALL: [Self; [$(stringify!($kind)),*].len()] = [$(Self::$kind),*];

            /// The module of the analysis.
            #[must_use]
            pub const fn definition(self) -> &'static dyn Analysis {
                match self {
                    $(Self::$kind => &super::$module::$kind,)*
                }
            }
        }

        $(
            impl HasFacts for super::$module::$kind {
                fn facts(&self) -> &'static Facts {
                    &super::$module::FACTS
                }
            }
        )*
    };
}

registry! {
    bfs::Bfs,
    reach::Reach,
    cc::Cc,
    sssp::Sssp,
    pagerank::Pagerank,
    kcore::Kcore,
    triangles::Triangles,
    widest::Widest,
    mis::Mis,
    colouring::Colouring,
    scc::Scc,
    msf::Msf,
    labels::Labels,
    ppr::Ppr,
    betweenness::Betweenness,
    triangle_total::TriangleTotal,
    closeness::Closeness,
    eccentricity::Eccentricity,
}

impl AnalysisKind {
    /// Its name, parameters and results.
    #[must_use]
    pub fn facts(self) -> &'static Facts {
        self.definition().facts()
    }

    /// The name on the command line and in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.facts().name
    }

    /// The question that it answers, in one line.
    #[must_use]
    pub fn summary(self) -> &'static str {
        self.facts().summary
    }

    /// Whether it starts from given nodes.
    #[must_use]
    pub fn takes_sources(self) -> bool {
        self.facts().takes_sources
    }

    /// Whether it requires undirected graphs.
    #[must_use]
    pub fn is_undirected(self) -> bool {
        self.facts().is_undirected
    }

    /// Whether it reads edge weights.
    #[must_use]
    pub fn reads_weights(self) -> bool {
        self.facts().reads_weights
    }
}

impl fmt::Display for AnalysisKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Serialize for AnalysisKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// Alternatives, such as `bfs or sssp`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnyOf(Vec<AnalysisKind>);

impl AnyOf {
    /// Returns the kinds whose facts satisfy `wanted`.
    #[must_use]
    pub fn with(wanted: impl Fn(&Facts) -> bool) -> Self {
        let all = AnalysisKind::ALL.into_iter();
        Self(all.filter(|kind| wanted(kind.facts())).collect())
    }
}

impl fmt::Display for AnyOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.0.iter().map(|kind| kind.name()).collect();
        f.write_str(&names.join(" or "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_and_titles_tell_analyses_apart() {
        for read in [|facts: &Facts| facts.name, |facts: &Facts| facts.title] {
            let all = AnalysisKind::ALL.map(|kind| read(kind.facts()));
            assert_eq!(
                all.iter().collect::<HashSet<_>>().len(),
                all.len(),
                "{all:?}"
            );
        }
    }
}
