//! The result of a run as a table: one row per node, with the ids of the file.
//!
//! With parents there is a third column, `parent`, the id of a node.

use std::io::{self, Write};

use super::table::{self, Cell, Row, RowFormat, Table, TableColumn, Values};
use seawall::analysis::{AnalysisKind, Values as Meaning};
use seawall::outcome::{Column, RunOutcome};

/// The rows of a run.
pub struct Rows<'a> {
    analysis: AnalysisKind,
    column: &'a Column,
    parents: Option<&'a [u32]>,
    original: &'a dyn Fn(u32) -> u64,
    name: Option<&'a dyn Fn(u32) -> Option<&'a str>>,
}

impl<'a> Rows<'a> {
    /// Returns the rows of `outcome`; `original` returns a node's id in the file.
    ///
    /// The labels of components are nodes, so they are written as ids too.
    #[must_use]
    pub fn new(outcome: &'a RunOutcome, original: &'a dyn Fn(u32) -> u64) -> Self {
        Self {
            parents: outcome.parents.as_deref(),
            ..Self::of(outcome.analysis, &outcome.values, original)
        }
    }

    /// Returns the rows of a column of `analysis`, without parents.
    pub(super) fn of(
        analysis: AnalysisKind,
        column: &'a Column,
        original: &'a dyn Fn(u32) -> u64,
    ) -> Self {
        Self {
            analysis,
            column,
            parents: None,
            original,
            name: None,
        }
    }

    /// Returns the rows with the name of each node, for formats that hold texts. Cells that are
    /// nodes are names then.
    #[must_use]
    pub fn with_names(self, name: &'a dyn Fn(u32) -> Option<&'a str>) -> Self {
        Self {
            name: Some(name),
            ..self
        }
    }

    /// Writes the named columns of those in [`TableColumn::of_run`]. Linear in the nodes, buffered
    /// only by `out`.
    ///
    /// # Errors
    /// If `out` fails.
    pub fn write(
        &self,
        format: RowFormat,
        columns: &[TableColumn],
        out: &mut dyn Write,
    ) -> io::Result<()> {
        table::write(self, format, columns, out)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Row<'_>> + '_ {
        (0u32..).take(self.column.len()).map(|node| Row {
            graph: 0,
            graph_name: "",
            name: self.name.and_then(|name| name(node)).unwrap_or(""),
            node: (self.original)(node),
            value: self.value(node),
            parent: self.parent(node),
            ends: self.ends(node),
        })
    }

    fn value(&self, node: u32) -> Cell<'_> {
        match self.column {
            Column::F32(values) => Cell::Real(values[node as usize]),
            Column::U32(values) => self.whole(values[node as usize]),
            Column::U64(values) => {
                Cell::Id(Some(values[node as usize]).filter(|value| *value != u64::MAX))
            }
            Column::I64(values) => {
                Cell::Signed(Some(values[node as usize]).filter(|value| *value != i64::MAX))
            }
            Column::Sets(sets) => Cell::Set(sets.of(node)),
            _ => Cell::Id(None),
        }
    }

    fn whole(&self, value: u32) -> Cell<'_> {
        let is_reached = value != Column::UNREACHED;
        match self.analysis.facts().values {
            Meaning::Nodes => self.node(Some(value)),
            Meaning::NodesOfReached => self.node(is_reached.then_some(value)),
            Meaning::NumbersOfReached | Meaning::Edges => Cell::Whole(is_reached.then_some(value)),
            Meaning::Numbers | Meaning::Flags => Cell::Whole(Some(value)),
        }
    }

    /// A cell that is a node.
    fn node(&self, node: Option<u32>) -> Cell<'_> {
        let named = node.zip(self.name).and_then(|(node, name)| name(node));
        match named {
            Some(name) => Cell::Text(name),
            None => Cell::Id(node.map(self.original)),
        }
    }

    /// The ends of a node's edge, the smaller first.
    fn ends(&self, node: u32) -> [Cell<'_>; 2] {
        match (self.analysis.facts().values, self.column) {
            (Meaning::Edges, Column::U64(edges)) => {
                let edge = Some(edges[node as usize]).filter(|edge| *edge != u64::MAX);
                let end = |shift: u32| self.node(edge.map(|edge| (edge >> shift) as u32));
                [end(0), end(u32::BITS)]
            }
            _ => [Cell::Id(None); 2],
        }
    }

    fn parent(&self, node: u32) -> Cell<'_> {
        let parent = self.parents.and_then(|parents| parents.get(node as usize));
        self.node(
            parent
                .copied()
                .filter(|parent| *parent != Column::UNREACHED),
        )
    }
}

impl Table for Rows<'_> {
    fn rows(&self) -> u64 {
        self.column.len() as u64
    }

    fn values(&self) -> Values {
        Values::of(self.analysis, self.column)
    }

    fn each(&self, take: &mut dyn FnMut(&Row<'_>) -> io::Result<()>) -> io::Result<()> {
        self.iter().try_for_each(|row| take(&row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::tests::{outcome, with};
    use seawall::outcome::SourceSets;
    use serde_json::{Value, json};

    fn some_of(outcome: &RunOutcome, format: RowFormat, columns: &[TableColumn]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let values = outcome.analysis.facts().values;
        let all = TableColumn::of_run(values, outcome.parents.is_some(), RowFormat::Npy);
        let columns = if columns.is_empty() { all } else { columns };
        Rows::new(outcome, &|node| u64::from(node) + 100)
            .write(format, columns, &mut bytes)
            .unwrap();
        bytes
    }

    fn csv(outcome: &RunOutcome, columns: &[TableColumn]) -> String {
        String::from_utf8(some_of(outcome, RowFormat::Csv, columns)).unwrap()
    }

    fn json(outcome: &RunOutcome, columns: &[TableColumn]) -> Value {
        serde_json::from_slice(&some_of(outcome, RowFormat::Json, columns)).unwrap()
    }

    /// Type, shape and body of a NumPy file.
    fn npy(outcome: &RunOutcome, columns: &[TableColumn]) -> (String, Vec<u64>, Vec<u8>) {
        let bytes = some_of(outcome, RowFormat::Npy, columns);
        let header = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
        let text = std::str::from_utf8(&bytes[10..header]).unwrap();
        let part = |from: &str, to: &str| {
            let start = text.find(from).unwrap() + from.len();
            &text[start..start + text[start..].find(to).unwrap()]
        };
        let dtype = part("'descr': ", ", 'fortran_order'");
        let sides = part("'shape': (", ")").split(',').map(str::trim);
        let sides = sides.filter(|side| !side.is_empty());
        let shape = sides.map(|side| side.parse().unwrap()).collect();
        (dtype.to_owned(), shape, bytes[header..].to_vec())
    }

    #[test]
    fn a_node_that_is_not_reached_is_empty_null_and_the_largest_number() {
        assert_eq!(
            csv(&outcome(), &[]),
            "node,value\n100,0\n101,1\n102,1\n103,\n"
        );
        let rows = json(&outcome(), &[]);
        assert_eq!(rows[1], json!({"node": 101, "value": 1}));
        assert_eq!(rows[3], json!({"node": 103, "value": null}));
        let (dtype, shape, body) = npy(&outcome(), &[]);
        assert_eq!(dtype, "[('node', '<u8'), ('value', '<u4'), ]");
        assert_eq!(shape, [4]);
        assert_eq!(body[36..], [103, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255]);
    }

    #[test]
    fn the_largest_number_is_a_value_where_every_node_has_one() {
        for analysis in [AnalysisKind::Triangles, AnalysisKind::Kcore] {
            let all = with(|described| {
                described.analysis = analysis;
            });
            assert!(csv(&all, &[]).ends_with("103,4294967295\n"));
        }
    }

    #[test]
    fn a_single_column_is_plain() {
        let value = [TableColumn::Value];
        assert_eq!(csv(&outcome(), &value), "value\n0\n1\n1\n\"\"\n");
        assert_eq!(json(&outcome(), &value), json!([0, 1, 1, null]));
        let (dtype, shape, body) = npy(&outcome(), &value);
        assert_eq!((dtype.as_str(), shape), ("'<u4'", vec![4]));
        assert_eq!(body.len(), 16);
    }

    #[test]
    fn columns_come_in_the_order_asked_for() {
        let order = [TableColumn::Value, TableColumn::Node];
        assert!(csv(&outcome(), &order).starts_with("value,node\n0,100\n"));
        let (dtype, _, body) = npy(&outcome(), &order);
        assert_eq!(dtype, "[('value', '<u4'), ('node', '<u8'), ]");
        assert_eq!(body[12..24], [1, 0, 0, 0, 101, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn labels_of_components_are_ids_too() {
        let mut outcome = outcome();
        outcome.analysis = AnalysisKind::Cc;
        outcome.values = Column::U32(vec![0, 0, 2, 2]);
        let text = csv(&outcome, &[]);
        assert_eq!(text, "node,value\n100,100\n101,100\n102,102\n103,102\n");
    }

    #[test]
    fn ends_of_edges_are_ids_in_columns_of_their_own() {
        let mut outcome = outcome();
        outcome.analysis = AnalysisKind::Msf;
        outcome.values = Column::U64(vec![u64::MAX, 1 << 32, 3 << 32 | 1]);
        assert_eq!(
            csv(&outcome, &[]),
            "node,from,to\n100,,\n101,100,101\n102,101,103\n"
        );
        let (dtype, _, body) = npy(&outcome, &[]);
        assert_eq!(dtype, "[('node', '<u8'), ('from', '<u8'), ('to', '<u8'), ]");
        assert_eq!(body[8..24], [255; 16]);
    }

    #[test]
    fn nodes_of_some_are_ids_or_missing() {
        let mut outcome = outcome();
        outcome.analysis = AnalysisKind::Scc;
        outcome.values = Column::U32(vec![0, u32::MAX]);
        assert_eq!(csv(&outcome, &[]), "node,value\n100,100\n101,\n");
    }

    #[test]
    fn parents_are_a_third_column_of_ids() {
        let mut outcome = outcome();
        outcome.parents = Some(vec![0, 0, 0, u32::MAX]);
        assert_eq!(
            csv(&outcome, &[]),
            "node,value,parent\n100,0,100\n101,1,100\n102,1,100\n103,,\n"
        );
        let rows = json(&outcome, &[]);
        assert_eq!(rows[1], json!({"node": 101, "value": 1, "parent": 100}));
        assert_eq!(rows[3], json!({"node": 103, "value": null, "parent": null}));
        let (dtype, _, body) = npy(&outcome, &[]);
        assert_eq!(
            dtype,
            "[('node', '<u8'), ('value', '<u4'), ('parent', '<u8'), ]"
        );
        assert_eq!(body[72..], u64::MAX.to_le_bytes());
        assert_eq!(body[52..60], 100_u64.to_le_bytes());
        let parents = json(&outcome, &[TableColumn::Parent]);
        assert_eq!(parents, json!([100, 100, 100, null]));
    }

    #[test]
    fn sets_are_hexadecimal_numbers_and_words() {
        let mut outcome = outcome();
        outcome.values = Column::Sets(SourceSets::new(3, vec![5, 0]));
        assert_eq!(
            csv(&outcome, &[]),
            "node,value\n100,0x0000000000000005\n101,0x0000000000000000\n"
        );
        outcome.values = Column::Sets(SourceSets::new(65, vec![5, 1]));
        let rows = json(&outcome, &[]);
        assert_eq!(rows[0]["value"], "0x00000000000000010000000000000005");
        let (dtype, _, body) = npy(&outcome, &[]);
        assert_eq!(dtype, "[('node', '<u8'), ('value', '<u8', (2,)), ]");
        assert_eq!(body[8..16], 5_u64.to_le_bytes());
        let (dtype, shape, _) = npy(&outcome, &[TableColumn::Value]);
        assert_eq!((dtype.as_str(), shape), ("'<u8'", vec![1, 2]));
    }

    #[test]
    fn a_rank_that_is_no_number_is_null_in_json_and_empty_in_csv() {
        let mut outcome = outcome();
        outcome.values = Column::F32(vec![0.5, f32::NAN]);
        assert_eq!(json(&outcome, &[TableColumn::Value]), json!([0.5, null]));
        assert_eq!(csv(&outcome, &[]), "node,value\n100,0.5\n101,\n");
    }

    #[test]
    fn nodes_with_names_have_them_in_all_cells() {
        let mut outcome = outcome();
        outcome.analysis = AnalysisKind::Cc;
        outcome.values = Column::U32(vec![0, 0, 2, 2]);
        outcome.parents = Some(vec![0, 0, 2, u32::MAX]);
        let names = ["ann", "bob", "cid", "d, e"];
        let columns = TableColumn::of_run(Meaning::Nodes, true, RowFormat::Csv);
        let mut bytes = Vec::new();
        Rows::new(&outcome, &u64::from)
            .with_names(&|node| names.get(node as usize).copied())
            .write(RowFormat::Csv, columns, &mut bytes)
            .unwrap();
        assert_eq!(
            String::from_utf8(bytes).unwrap(),
            "node,name,value,parent\n0,ann,ann,ann\n1,bob,ann,ann\n2,cid,cid,cid\n3,\"d, e\",cid,\n"
        );
    }
}
