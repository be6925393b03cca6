//! Specification of many generated graphs: `gen:batch:COUNT:SHAPE`.
//!
//! A benchmark of thousands of small graphs should not need thousands of files. The graphs differ
//! in their seeds, which count up from the seed of the shape.

use super::error::{GeneratorProblem, GraphError};
use super::spec::{Generator, PREFIX, number, parse_body};

/// Start of such a specification, after `gen:`.
const NAME: &str = "batch";
const FORM: &str = "gen:batch:COUNT:SHAPE, such as gen:batch:100:chain:512";
/// Most graphs of one specification.
const COUNT_MAX: u64 = 1 << 20;

/// Returns one specification per graph of `gen:batch:COUNT:SHAPE`, each fit for
/// [`load`](super::load); `None` if the text is not a batch.
///
/// `SHAPE` is a generator without its `gen:`. Graph `i`, from 0, adds `i` to the seed of the
/// shape.
///
/// ```
/// use seawall_graph as graph;
/// let specs = graph::batch("gen:batch:2:chain:5:7").unwrap()?;
/// assert_eq!(specs, ["gen:chain:5:7", "gen:chain:5:8"]);
/// assert!(graph::batch("gen:chain:5").is_none());
/// # Ok::<(), graph::GraphError>(())
/// ```
///
/// # Errors
/// [`GraphError::Generator`] for a count outside 1 to 2^20, a shape that does not parse, or a
/// shape without a seed, whose graphs would all be equal.
pub fn batch(spec: &str) -> Option<Result<Vec<String>, GraphError>> {
    let body = spec.strip_prefix(PREFIX)?.strip_prefix(NAME)?;
    if !(body.is_empty() || body.starts_with(':')) {
        return None;
    }
    let fail = |problem| GraphError::Generator {
        spec: spec.to_owned(),
        problem,
    };
    Some(parse(body.strip_prefix(':').unwrap_or(body)).map_err(fail))
}

fn parse(body: &str) -> Result<Vec<String>, GeneratorProblem> {
    let missing = |what| GeneratorProblem::Missing { what, form: FORM };
    let (count, shape) = body.split_once(':').unwrap_or((body, ""));
    if count.is_empty() {
        return Err(missing("COUNT"));
    }
    let count = number(count, "COUNT", 1, COUNT_MAX)?;
    if shape.is_empty() {
        return Err(missing("SHAPE"));
    }
    let shape = parse_body(shape)?;
    (0..count).map(|index| seeded(&shape, index)).collect()
}

/// Returns the specification of `shape` with `index` added to its seed.
fn seeded(shape: &Generator, index: u64) -> Result<String, GeneratorProblem> {
    let seed = shape.seed().wrapping_add(index);
    Ok(match shape {
        Generator::Rmat {
            scale,
            edge_factor,
            is_directed,
            ..
        } => {
            let name = if *is_directed {
                "rmat-directed"
            } else {
                "rmat"
            };
            format!("{PREFIX}{name}:{scale}:{edge_factor}:{seed}")
        }
        Generator::Uniform {
            scale, edge_factor, ..
        } => format!("{PREFIX}uniform:{scale}:{edge_factor}:{seed}"),
        Generator::Chain { nodes, .. } => format!("{PREFIX}chain:{nodes}:{seed}"),
        Generator::Grid { .. } => return Err(GeneratorProblem::Unseeded),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_count_up_from_that_of_the_shape() {
        let specs = |text| batch(text).unwrap().unwrap();
        assert_eq!(
            specs("gen:batch:2:rmat:4:8"),
            ["gen:rmat:4:8:1", "gen:rmat:4:8:2"]
        );
        assert_eq!(specs("gen:batch:1:uniform:3:2:9"), ["gen:uniform:3:2:9"]);
        assert_eq!(
            specs("gen:batch:2:rmat-directed:3:2:9"),
            ["gen:rmat-directed:3:2:9", "gen:rmat-directed:3:2:10"]
        );
        assert_eq!(
            specs("gen:batch:2:chain:6:18446744073709551615"),
            ["gen:chain:6:18446744073709551615", "gen:chain:6:0"]
        );
    }

    #[test]
    fn bad_batches_are_refused_with_their_fault() {
        for (spec, text) in [
            ("gen:batch", "COUNT is missing"),
            ("gen:batch:", "COUNT is missing"),
            ("gen:batch::1:chain:5", "COUNT is missing"),
            ("gen:batch:0:chain:5", "COUNT must be a whole number from 1"),
            ("gen:batch:-1:chain:5", "COUNT must be a whole number"),
            ("gen:batch:1048577:chain:5", "to 1048576 (\"1048577\")"),
            ("gen:batch:5", "SHAPE is missing"),
            ("gen:batch:5:", "SHAPE is missing"),
            ("gen:batch:5:chain", "NODES is missing"),
            ("gen:batch:5:ring:7", "unknown generator \"ring\""),
            ("gen:batch:5:chain:7:1:2", "unexpected parameter \"2\""),
            ("gen:batch:5:grid:7", "would all be equal"),
            ("gen:batch:5:batch:2:chain:7", "many graphs"),
        ] {
            let message = batch(spec).unwrap().unwrap_err().to_string();
            assert!(
                message.starts_with(&format!("{spec}: ")) && message.contains(text),
                "{message}"
            );
        }
        assert!(batch("gen:batches:5").is_none());
        assert!(batch("batch:5").is_none());
    }
}
