//! Code of a wave in a program's text: statements, one after the other.

use super::at::At;
use super::error::{TextError, TextProblem};
use super::registers::Registers;
use super::values::{EDGES, Names};
use crate::program::code::{Edge, Extreme, Item, Value};
use seawall_core::abi::code::{Join, Kind};

pub(super) const JOINS: [(&str, Join); 6] = [
    ("min", Join::Min),
    ("max", Join::Max),
    ("sum", Join::Sum),
    ("or", Join::Or),
    ("and", Join::And),
    ("any", Join::Any),
];

/// Joins that return a node, by name.
const EXTREMES: [(&str, Extreme); 2] = [("argmin", Extreme::Least), ("argmax", Extreme::Largest)];

/// Most values that edges join at a time.
const JOINS_MAX: usize = 3;

/// Writes the statements of the list `at` for `item`.
pub(super) fn write(
    item: Item<'_>,
    registers: &Registers<'_>,
    at: &At<'_>,
) -> Result<(), TextError> {
    let mut writer = Writer {
        names: Names::new(item, registers),
    };
    writer.statements(at)
}

struct Writer<'a, 't, 'c> {
    names: Names<'a, 't, 'c>,
}

impl<'t, 'c> Writer<'_, 't, 'c> {
    fn statements(&mut self, at: &At<'t>) -> Result<(), TextError> {
        let mut items = at.items()?.into_iter();
        items.try_for_each(|at| self.statement(&at))
    }

    fn statement(&mut self, at: &At<'t>) -> Result<(), TextError> {
        const VERBS: [&str; 9] = [
            "scatter", "store", "fold", "append", "edges", "only", "changed", "until", "let",
        ];
        match VERBS.into_iter().find(|verb| at.has(verb)) {
            Some("scatter") => self.scatter(at),
            Some("store") => self.store(at),
            Some("fold") => self.fold(at),
            Some("append") => self.append(at),
            Some("edges") => self.edges(at),
            Some("let") => {
                at.check_fields(&["let", "be"])?;
                let value = self.value(at, "be")?;
                self.names.bind(&at.field("let")?, value)
            }
            Some(_) => self.condition(at),
            None => Err(at.error(TextProblem::Missing {
                what: "one of let, only, store, scatter, fold, append, changed, edges and until",
            })),
        }
    }

    fn value(&self, at: &At<'t>, field: &'static str) -> Result<Value<'c>, TextError> {
        self.names.value(&at.field(field)?)
    }

    /// Statements that only take a condition.
    fn condition(&self, at: &At<'t>) -> Result<(), TextError> {
        let (item, edge) = (self.names.item(), self.names.edge());
        if at.has("only") {
            at.check_fields(&["only"])?;
            let condition = self.value(at, "only")?;
            match edge {
                Some(edge) => edge.only(condition),
                None => item.only(condition),
            }
        } else if at.has("changed") {
            at.check_fields(&["changed"])?;
            item.changed(self.value(at, "changed")?);
        } else {
            at.check_fields(&["until"])?;
            let edge = edge.ok_or_else(|| at.error(TextProblem::NoEdge))?;
            edge.until(self.value(at, "until")?);
        }
        Ok(())
    }

    fn store(&self, at: &At<'t>) -> Result<(), TextError> {
        at.check_fields(&["store", "value"])?;
        let to = self.names.register(&at.field("store")?)?;
        let value = self.value(at, "value")?;
        self.names.item().store(to, value);
        Ok(())
    }

    fn scatter(&mut self, at: &At<'t>) -> Result<(), TextError> {
        at.check_fields(&["scatter", "at", "join", "value", "let"])?;
        let to = self.names.register(&at.field("scatter")?)?;
        let (index, value) = (self.value(at, "at")?, self.value(at, "value")?);
        let how = at.field("join")?.choice("join", &JOINS)?;
        let before = self.names.item().scatter(to, index, how, value);
        match at.optional("let")? {
            Some(name) => self.names.bind(&name, before),
            None => Ok(()),
        }
    }

    fn fold(&self, at: &At<'t>) -> Result<(), TextError> {
        at.check_fields(&["fold", "join", "value"])?;
        let to = self.names.register(&at.field("fold")?)?;
        let how = at.field("join")?.choice("join", &JOINS)?;
        let value = self.value(at, "value")?;
        self.names.item().fold(to, how, value);
        Ok(())
    }

    fn append(&self, at: &At<'t>) -> Result<(), TextError> {
        at.check_fields(&["append", "count", "value", "where"])?;
        let list = self.names.register(&at.field("append")?)?;
        let count = self.names.register(&at.field("count")?)?;
        let value = self.value(at, "value")?;
        let item = self.names.item();
        match at.optional("where")? {
            Some(condition) => {
                let condition = self.names.value(&condition)?;
                item.append((list, count), value, condition);
            }
            None => item.append((list, count), value, 1),
        }
        Ok(())
    }

    fn edges(&mut self, at: &At<'t>) -> Result<(), TextError> {
        at.check_fields(&["edges", "code", "join"])?;
        let joins = at.optional("join")?;
        let joins = joins.map_or(Ok(Vec::new()), |joins| joins.items())?;
        match joins.as_slice() {
            [] => self.part(at, []),
            [a] => self.part(at, [a]),
            [a, b] => self.part(at, [a, b]),
            [a, b, c] => self.part(at, [a, b, c]),
            more => Err(at.error(TextProblem::TooMany {
                what: "joins",
                found: more.len(),
                most: JOINS_MAX,
            })),
        }
    }

    fn part<const N: usize>(&mut self, at: &At<'t>, joins: [&At<'t>; N]) -> Result<(), TextError> {
        let edges = at.field("edges")?.choice("direction", &EDGES)?;
        let mut written = Ok([Kind::U32; N]);
        let found = self.names.item().edges(edges, |edge| {
            let mut inner = Writer {
                names: self.names.at_edge(edge),
            };
            match inner.part_of_edge(at, edge, joins) {
                Ok(found) => {
                    written = Ok(found.map(|(_, _, kind)| kind));
                    found.map(|(how, value, _)| (how, value))
                }
                Err(error) => {
                    written = Err(error);
                    let nothing = edge.constant(0_u32);
                    [(Join::Sum, nothing); N]
                }
            }
        });
        let found = found.into_iter().zip(written?);
        for (join, (value, kind)) in joins.into_iter().zip(found) {
            self.bind_joined(join, value, kind)?;
        }
        Ok(())
    }

    /// Names the results of a join of edges.
    fn bind_joined(
        &mut self,
        join: &At<'t>,
        value: Value<'c>,
        kind: Kind,
    ) -> Result<(), TextError> {
        let Some(extreme) = extreme(join)? else {
            return self.names.bind(&join.field("let")?, value);
        };
        let [value, node] = extreme.parts(value, kind);
        if let Some(name) = join.optional("let")? {
            self.names.bind(&name, value)?;
        }
        self.names.bind(&join.field("node")?, node)
    }

    fn part_of_edge<const N: usize>(
        &mut self,
        at: &At<'t>,
        edge: Edge<'c>,
        joins: [&At<'t>; N],
    ) -> Result<[(Join, Value<'c>, Kind); N], TextError> {
        if let Some(code) = at.optional("code")? {
            self.statements(&code)?;
        }
        let mut found = Vec::with_capacity(N);
        for join in joins {
            let extreme = extreme(join)?;
            join.check_fields(match extreme {
                Some(_) => &["let", "how", "value", "node"],
                None => &["let", "how", "value"],
            })?;
            let value = self.value(join, "value")?;
            let (how, joined) = match extreme {
                Some(extreme) => (Join::Min, extreme.pair(edge, value)),
                None => (join.field("how")?.choice("join", &JOINS)?, value),
            };
            found.push((how, joined, value.kind()));
        }
        let count = found.len();
        found.try_into().map_err(|_| {
            at.error(TextProblem::TooMany {
                what: "joins",
                found: count,
                most: N,
            })
        })
    }
}

/// The extreme that a join of edges returns, if it returns one.
fn extreme(join: &At<'_>) -> Result<Option<Extreme>, TextError> {
    let how = join.field("how")?;
    let mut known = EXTREMES.iter();
    let found = known.find(|(name, _)| how.as_text() == Some(name));
    Ok(found.map(|(_, extreme)| *extreme))
}
