//! Specification of a generator: `gen:NAME:PARAMETERS`.
//!
//! Parses and bounds the parameters, so that building needs no further check. It allocates nothing
//! of their size.

use super::error::{GeneratorProblem, GraphError};

/// Prefix of every specification.
pub(super) const PREFIX: &str = "gen:";
/// Seed if none is specified.
const SEED: u64 = 1;
/// Largest scale: nodes are numbered with 32 bits and one number stays free.
const SCALE_MAX: u64 = 31;
const EDGE_FACTOR_MAX: u64 = 1 << 16;
const SIDE_MAX: u64 = 1 << 30;
const NODES_MAX: u64 = 1 << 31;

/// A shape with its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Generator {
    /// Kronecker graph with permuted node numbers, symmetric unless directed.
    Rmat {
        scale: u32,
        edge_factor: u32,
        seed: u64,
        is_directed: bool,
    },
    /// Uniform random graph, symmetric.
    Uniform {
        scale: u32,
        edge_factor: u32,
        seed: u64,
    },
    /// Four-neighbour grid, symmetric.
    Grid { width: u32, height: u32 },
    /// Directed chain with forward jumps.
    Chain { nodes: u32, seed: u64 },
}

impl Generator {
    /// Parses `gen:...`; `None` if the text is not a generator's specification.
    pub(super) fn parse(spec: &str) -> Option<Result<Self, GraphError>> {
        let body = spec.strip_prefix(PREFIX)?;
        let fail = |problem| GraphError::Generator {
            spec: spec.to_owned(),
            problem,
        };
        Some(parse_body(body).map_err(fail))
    }

    /// Number of nodes, and an upper bound of directed edges.
    pub(super) fn counts(&self) -> (u64, u64) {
        match *self {
            Self::Rmat {
                scale,
                edge_factor,
                is_directed: true,
                ..
            } => ((1 << scale), u64::from(edge_factor) << scale),
            Self::Rmat {
                scale, edge_factor, ..
            }
            | Self::Uniform {
                scale, edge_factor, ..
            } => {
                let nodes = 1u64 << scale;
                (nodes, 2 * nodes * u64::from(edge_factor))
            }
            Self::Grid { width, height } => {
                let nodes = u64::from(width) * u64::from(height);
                (nodes, 4 * nodes)
            }
            // About a quarter of the nodes have a second edge, and all may.
            Self::Chain { nodes, .. } => (u64::from(nodes), 2 * u64::from(nodes) - 1),
        }
    }

    /// Whether every edge has its reverse.
    pub(super) const fn is_symmetric(&self) -> bool {
        match self {
            Self::Rmat { is_directed, .. } => !*is_directed,
            Self::Uniform { .. } | Self::Grid { .. } => true,
            Self::Chain { .. } => false,
        }
    }

    /// The seed; shapes without randomness have a fixed one for their weights.
    pub(super) fn seed(&self) -> u64 {
        match *self {
            Self::Rmat { seed, .. } | Self::Uniform { seed, .. } | Self::Chain { seed, .. } => seed,
            Self::Grid { .. } => SEED,
        }
    }
}

/// Parses the text after `gen:`.
pub(super) fn parse_body(body: &str) -> Result<Generator, GeneratorProblem> {
    let (name, rest) = body.split_once(':').unwrap_or((body, ""));
    let form = match name {
        "rmat" => "gen:rmat:SCALE:EDGEFACTOR[:SEED]",
        "rmat-directed" => "gen:rmat-directed:SCALE:EDGEFACTOR[:SEED]",
        "uniform" => "gen:uniform:SCALE:EDGEFACTOR[:SEED]",
        "grid" => "gen:grid:WIDTH[xHEIGHT]",
        "chain" => "gen:chain:NODES[:SEED]",
        "batch" => return Err(GeneratorProblem::Many),
        _ => {
            return Err(GeneratorProblem::Name {
                name: name.to_owned(),
            });
        }
    };
    let mut fields = Fields {
        rest: rest.split(':'),
        form,
    };
    let shape = match name {
        "grid" => fields.grid()?,
        "chain" => Generator::Chain {
            nodes: fields.number("NODES", 1, NODES_MAX)? as u32,
            seed: fields.seed()?,
        },
        _ => {
            let scale = fields.number("SCALE", 0, SCALE_MAX)? as u32;
            let edge_factor = fields.number("EDGEFACTOR", 0, EDGE_FACTOR_MAX)? as u32;
            let seed = fields.seed()?;
            match name {
                "uniform" => Generator::Uniform {
                    scale,
                    edge_factor,
                    seed,
                },
                _ => Generator::Rmat {
                    scale,
                    edge_factor,
                    seed,
                    is_directed: name == "rmat-directed",
                },
            }
        }
    };
    fields.end()?;
    Ok(shape)
}

struct Fields<'a> {
    rest: std::str::Split<'a, char>,
    form: &'static str,
}

impl<'a> Fields<'a> {
    fn text(&mut self, what: &'static str) -> Result<&'a str, GeneratorProblem> {
        let missing = GeneratorProblem::Missing {
            what,
            form: self.form,
        };
        self.rest
            .next()
            .filter(|text| !text.is_empty())
            .ok_or(missing)
    }

    fn number(&mut self, what: &'static str, min: u64, max: u64) -> Result<u64, GeneratorProblem> {
        number(self.text(what)?, what, min, max)
    }

    fn seed(&mut self) -> Result<u64, GeneratorProblem> {
        match self.rest.next() {
            None => Ok(SEED),
            Some(text) => number(text, "SEED", 0, u64::MAX),
        }
    }

    fn grid(&mut self) -> Result<Generator, GeneratorProblem> {
        let text = self.text("WIDTH")?;
        let (width, height) = text.split_once('x').unwrap_or((text, text));
        Ok(Generator::Grid {
            width: number(width, "WIDTH", 1, SIDE_MAX)? as u32,
            height: number(height, "HEIGHT", 1, SIDE_MAX)? as u32,
        })
    }

    fn end(mut self) -> Result<(), GeneratorProblem> {
        match self.rest.next() {
            None => Ok(()),
            Some(value) => Err(GeneratorProblem::Extra {
                value: value.to_owned(),
                form: self.form,
            }),
        }
    }
}

pub(super) fn number(
    text: &str,
    what: &'static str,
    min: u64,
    max: u64,
) -> Result<u64, GeneratorProblem> {
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let value = if digits { text.parse().ok() } else { None };
    value
        .filter(|value| (min..=max).contains(value))
        .ok_or_else(|| GeneratorProblem::Parameter {
            what,
            value: text.to_owned(),
            min,
            max,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(spec: &str) -> Result<Generator, GraphError> {
        Generator::parse(spec).unwrap()
    }

    #[test]
    fn every_form_parses() {
        let rmat = |is_directed| Generator::Rmat {
            scale: 22,
            edge_factor: 16,
            seed: 1,
            is_directed,
        };
        assert_eq!(parse("gen:rmat:22:16").unwrap(), rmat(false));
        assert_eq!(parse("gen:rmat-directed:22:16").unwrap(), rmat(true));
        let uniform = Generator::Uniform {
            scale: 3,
            edge_factor: 2,
            seed: 9,
        };
        assert_eq!(parse("gen:uniform:3:2:9").unwrap(), uniform);
        assert_eq!(
            parse("gen:grid:512").unwrap(),
            Generator::Grid {
                width: 512,
                height: 512
            }
        );
        assert_eq!(
            parse("gen:grid:3x7").unwrap(),
            Generator::Grid {
                width: 3,
                height: 7
            }
        );
        assert_eq!(
            parse("gen:chain:5:0").unwrap(),
            Generator::Chain { nodes: 5, seed: 0 }
        );
        assert!(Generator::parse("graph.mtx").is_none());
    }

    #[test]
    fn bad_forms_name_the_parameter() {
        let cases = [
            ("gen:ring:5", "unknown generator \"ring\""),
            ("gen:rmat", "SCALE is missing"),
            ("gen:rmat:4", "EDGEFACTOR is missing"),
            ("gen:rmat-directed:4", "the form is gen:rmat-directed:"),
            (
                "gen:rmat:64:1",
                "SCALE must be a whole number from 0 to 31 (\"64\")",
            ),
            ("gen:rmat:4:1:x", "SEED must be a whole number"),
            ("gen:rmat:4:1:1:1", "unexpected parameter \"1\""),
            ("gen:grid:0", "WIDTH must be a whole number from 1"),
            ("gen:grid:4x", "HEIGHT must be a whole number"),
            ("gen:grid:-4", "WIDTH must be a whole number"),
            ("gen:chain:+4", "NODES must be a whole number"),
            (
                "gen:chain:99999999999999999999999",
                "NODES must be a whole number",
            ),
        ];
        for (spec, text) in cases {
            let message = parse(spec).unwrap_err().to_string();
            assert!(
                message.starts_with(spec) && message.contains(text),
                "{message}"
            );
        }
    }
}
