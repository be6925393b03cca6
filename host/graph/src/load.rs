//! Options, statistics and progress of a load.
//!
//! They are separate from the readers, so that the command line can fill and show them without
//! knowing any format.

use super::format::{Compression, Format};
use super::{Graph, GraphError, Scale, ScaleError};

/// Options for reading or generating a graph.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LoadOptions {
    /// Take every edge in both directions. Formats that are undirected ignore this.
    pub undirected: bool,
    /// The edge weights of the graph.
    pub weights: WeightChoice,
    /// Skip columns of an edge list that are neither an end nor a weight. If false, such a column
    /// is an error, since it could be mistaken for one.
    pub skip_columns: bool,
    /// Format of the file, if neither its content nor its name shows it: METIS and edge lists look
    /// alike. Found by content and name when not given; a file whose content is plainly of another
    /// format is refused.
    pub format: Option<Format>,
    /// Keep parallel edges with weights in the order listed, instead of that of their weights. Takes
    /// a stable sort, which is slower; [`Parallel::First`](super::Parallel::First) needs it.
    pub listed_order: bool,
    /// The columns of a table, where its first line does not name them. With any of them chosen,
    /// all others are skipped.
    pub columns: ColumnChoice,
    /// Take negative weights, so that the graph's weights are of a signed kind if some are
    /// negative. If false, a negative weight is an error.
    pub signed: bool,
    /// Take ids of edge lists, tables, lists of neighbours and GraphML as names, even if they are
    /// digits. If false, ids are names if the first edge has a name.
    pub names: bool,
}

/// Columns of a table that the caller chose. In GraphML the weight names an attribute.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ColumnChoice {
    /// The column where edges start.
    pub source: Option<ColumnRef>,
    /// The column where edges end.
    pub target: Option<ColumnRef>,
    /// The column of weights.
    pub weight: Option<ColumnRef>,
}

impl ColumnChoice {
    /// No choice.
    pub const NONE: Self = Self {
        source: None,
        target: None,
        weight: None,
    };

    pub(super) fn is_some(&self) -> bool {
        *self != Self::NONE
    }

    /// Whether any is chosen by its name.
    pub(super) fn has_names(&self) -> bool {
        let all = [&self.source, &self.target, &self.weight];
        all.into_iter()
            .any(|column| matches!(column, Some(ColumnRef::Name(_))))
    }
}

/// A column by its name or its number.
///
/// ```
/// use seawall_graph::ColumnRef;
///
/// assert_eq!(ColumnRef::from("2"), ColumnRef::Number(2));
/// assert_eq!(ColumnRef::from("to"), ColumnRef::Name("to".to_owned()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnRef {
    /// The number, from 1.
    Number(usize),
    /// The name in the first line.
    Name(String),
}

impl From<&str> for ColumnRef {
    fn from(text: &str) -> Self {
        let number = text.parse();
        number.map_or_else(|_| Self::Name(text.to_owned()), Self::Number)
    }
}

impl std::fmt::Display for ColumnRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Name(name) => write!(f, "{name:?}"),
        }
    }
}

/// Source of the edge weights that a load produces.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum WeightChoice {
    /// No weights. Weights in a file take no memory and are not checked.
    #[default]
    Ignored,
    /// The weights of the file, if it has any; generators draw 1 to 64.
    Given,
    /// The weights of the file, if it has any; generators draw none.
    OfFile,
    /// 1 on every edge. Weights in a file are not checked.
    Unit,
    /// As [`Self::Given`], times this factor and rounded to whole numbers; see
    /// [`Graph::with_scaled_weights`].
    Scaled(f64),
}

impl WeightChoice {
    /// Returns whether the weights of the file or generator are needed.
    #[must_use]
    pub const fn are_read(self) -> bool {
        matches!(self, Self::Given | Self::OfFile | Self::Scaled(_))
    }

    /// Returns whether a generator draws weights.
    #[must_use]
    pub const fn are_drawn(self) -> bool {
        matches!(self, Self::Given | Self::Scaled(_))
    }
}

/// Origin of a graph's weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WeightOrigin {
    /// Read from the file.
    File,
    /// Drawn by a generator.
    Generator,
    /// 1 on every edge, as requested.
    Unit,
}

/// Statistics of a load.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LoadStats {
    /// Format found.
    pub format: Format,
    /// Compression found.
    pub compression: Compression,
    /// Bytes of the file; 0 for generators.
    pub bytes: u64,
    /// Bytes after decompression; 0 for generators.
    pub text_bytes: u64,
    /// Edges listed in the file, before mirroring.
    pub listed_edges: u64,
    /// Listed edges that made no additional edge: in an undirected graph, the other direction of an
    /// edge that is listed from both ends. 0 if the format lists edges so.
    pub mirrored: u64,
    /// Weights that a 32-bit float does not represent exactly.
    pub rounded_weights: u64,
    /// Origin of the graph's weights, if it has any.
    pub weight_origin: Option<WeightOrigin>,
    /// Effect of scaling, if it was requested.
    pub scale: Option<Scale>,
    /// Whether ids had gaps and nodes were renumbered.
    pub compacted: bool,
}

impl LoadStats {
    /// Returns the statistics of a source of which nothing was read yet.
    pub(super) fn of(format: Format) -> Self {
        Self {
            format,
            compression: Compression::None,
            bytes: 0,
            text_bytes: 0,
            listed_edges: 0,
            mirrored: 0,
            rounded_weights: 0,
            weight_origin: None,
            scale: None,
            compacted: false,
        }
    }
}

/// A graph and the statistics of its load.
#[derive(Debug)]
pub struct Loaded {
    /// The graph.
    pub graph: Graph,
    /// Statistics of the load.
    pub stats: LoadStats,
}

impl Loaded {
    /// A graph as read, with the mirror images of its edges if `options` ask for them.
    pub(super) fn directed(
        graph: Graph,
        mut stats: LoadStats,
        options: &LoadOptions,
        name: &str,
    ) -> Result<Self, GraphError> {
        let graph = if options.undirected {
            let (graph, mirrored) = graph.into_undirected(name)?;
            stats.mirrored = mirrored;
            graph
        } else {
            graph
        };
        Ok(Self { graph, stats })
    }

    /// Refuses a graph of another format than the requested one.
    pub(super) fn of_format(self, asked: Option<Format>, name: &str) -> Result<Self, GraphError> {
        let found = self.stats.format;
        match asked {
            Some(asked) if asked.columns() != found.columns() => Err(GraphError::OtherFormat {
                file: name.to_owned(),
                asked,
                found,
            }),
            _ => Ok(self),
        }
    }

    /// Refuses a graph of a file without columns, if some were chosen.
    pub(super) fn of_columns(self, asked: &ColumnChoice, name: &str) -> Result<Self, GraphError> {
        let format = self.stats.format;
        let has_them = match format.columns() {
            Format::EdgeList => true,
            Format::GraphMl => asked.source.is_none() && asked.target.is_none(),
            _ => !asked.is_some(),
        };
        if has_them {
            return Ok(self);
        }
        Err(GraphError::NoColumns {
            file: name.to_owned(),
            format,
        })
    }

    /// Returns the same graph with the requested weights; errors mention `name`.
    pub(super) fn weighted(self, choice: WeightChoice, name: &str) -> Result<Self, GraphError> {
        let Self { graph, mut stats } = self;
        let (graph, origin) = match choice {
            WeightChoice::Ignored => (graph, None),
            WeightChoice::Given | WeightChoice::OfFile => {
                (graph, Some(stats.format.weight_origin()))
            }
            WeightChoice::Unit => {
                let graph = graph.unit_weights();
                let graph = graph.map_err(|short| GraphError::memory(name, short))?;
                (graph, Some(WeightOrigin::Unit))
            }
            WeightChoice::Scaled(_) if stats.scale.is_some() => {
                (graph, Some(stats.format.weight_origin()))
            }
            WeightChoice::Scaled(factor) => {
                let scaled = graph.with_scaled_weights(factor);
                let (graph, scale) = scaled.map_err(|problem| problem.in_file(name))?;
                stats.scale = Some(scale);
                (graph, Some(stats.format.weight_origin()))
            }
        };
        stats.weight_origin = origin.filter(|_| graph.weights().is_some());
        Ok(Self { graph, stats })
    }
}

impl Format {
    const fn weight_origin(self) -> WeightOrigin {
        match self {
            Self::Generated => WeightOrigin::Generator,
            _ => WeightOrigin::File,
        }
    }
}

impl ScaleError {
    fn in_file(self, name: &str) -> GraphError {
        let file = name.to_owned();
        match self {
            Self::NoWeights => GraphError::NoWeights { file },
            problem => GraphError::Scale { file, problem },
        }
    }
}

/// Receives the progress of a load. Called from the reading thread, about once a megabyte.
pub trait Progress: Sync {
    /// `done` bytes of the file were read, out of `total` if the size is known (it is not for
    /// standard input).
    fn update(&self, done: u64, total: Option<u64>);
}

impl<F: Fn(u64, Option<u64>) + Sync> Progress for F {
    fn update(&self, done: u64, total: Option<u64>) {
        self(done, total);
    }
}
