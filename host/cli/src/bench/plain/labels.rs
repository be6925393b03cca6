//! Label propagation.

use super::Rows;
use seawall_core::abi::code::random;

const ROUNDS: u32 = 10;

/// The label of most edges around each node, the least of several, in ten rounds in which all nodes
/// change at once; for graphs without loops. Counts in cells of the nodes' own rows, as the
/// composed program does, which has no table of labels.
pub(in super::super) fn labels(rows: Rows<'_>) -> Vec<u32> {
    let (nodes, edges) = (rows.nodes(), rows.targets.len());
    let count = nodes as usize;
    let mut cells = Cells {
        rows,
        labels: (0..nodes).collect(),
        most: vec![0; count],
        best: vec![0; count],
        left: vec![0; count],
        counted: vec![0; count],
        claims: vec![u32::MAX; edges],
        sums: vec![0; edges],
        done: vec![0; edges],
        pass: 0,
        before: 0,
    };
    let mut listed = vec![0_u32; count];
    let mut looking: Vec<u32> = (0..nodes).filter(|node| rows.degree(*node) > 0).collect();
    let mut changing = Vec::with_capacity(count);
    for round in 1..=ROUNDS {
        cells.count(&looking);
        changing.clear();
        for node in &looking {
            let at = *node as usize;
            let own = cells.labels[at];
            let label = if cells.most[at] == 0 {
                own
            } else {
                !cells.best[at]
            };
            if label != own {
                changing.push((*node, label));
            }
        }
        for (node, label) in &changing {
            cells.labels[*node as usize] = *label;
        }
        looking.clear();
        for (node, _) in &changing {
            for other in rows.row(*node) {
                if listed[*other as usize] < round {
                    listed[*other as usize] = round;
                    looking.push(*other);
                }
            }
        }
        if looking.is_empty() {
            break;
        }
    }
    cells.labels
}

/// Counts of labels in the cells of rows: one for each edge.
struct Cells<'g> {
    rows: Rows<'g>,
    labels: Vec<u32>,
    /// Edges of each node's best label so far, and the complement of the label.
    most: Vec<u32>,
    best: Vec<u32>,
    /// Edges whose labels may still matter, and those that this pass counted.
    left: Vec<u32>,
    counted: Vec<u32>,
    claims: Vec<u32>,
    sums: Vec<u32>,
    /// The pass that counted each edge.
    done: Vec<u32>,
    pass: u32,
    /// The last pass before this round.
    before: u32,
}

impl Cells<'_> {
    /// Finds the best label around each node of a list.
    fn count(&mut self, list: &[u32]) {
        self.before = self.pass;
        for node in list {
            let at = *node as usize;
            (self.most[at], self.best[at]) = (0, 0);
            self.left[at] = self.rows.degree(*node);
        }
        loop {
            self.pass += 1;
            let mut changed = false;
            for node in list {
                if self.left[*node as usize] != 0 {
                    self.claim(*node);
                }
            }
            for node in list {
                if self.left[*node as usize] != 0 {
                    self.count_claimed(*node);
                }
            }
            for node in list {
                if self.left[*node as usize] != 0 {
                    let done = &self.done[self.rows.edges(*node)];
                    let counted = done.iter().filter(|pass| **pass == self.pass).count();
                    self.counted[*node as usize] = counted as u32;
                }
            }
            for node in list {
                if self.left[*node as usize] != 0 {
                    self.find_most(*node);
                }
            }
            for node in list {
                if self.left[*node as usize] != 0 {
                    changed |= self.choose(*node);
                }
            }
            if !changed {
                return;
            }
        }
    }

    fn cell(&self, node: u32, label: u32) -> usize {
        let row = self.rows.edges(node);
        row.start + (random(0, label, self.pass) % row.len() as u32) as usize
    }

    fn claim(&mut self, node: u32) {
        for edge in self.rows.edges(node) {
            self.sums[edge] = 0;
            if self.done[edge] <= self.before {
                let label = self.labels[self.rows.targets[edge] as usize];
                let cell = self.cell(node, label);
                self.claims[cell] = self.claims[cell].min(label);
            }
        }
    }

    fn count_claimed(&mut self, node: u32) {
        for edge in self.rows.edges(node) {
            if self.done[edge] > self.before {
                continue;
            }
            let label = self.labels[self.rows.targets[edge] as usize];
            let cell = self.cell(node, label);
            if self.claims[cell] == label {
                self.sums[cell] += 1;
                self.done[edge] = self.pass;
            }
        }
    }

    fn find_most(&mut self, node: u32) {
        let mut found = 0;
        for edge in self.rows.edges(node) {
            self.claims[edge] = u32::MAX;
            if self.done[edge] == self.pass {
                let label = self.labels[self.rows.targets[edge] as usize];
                found = found.max(self.sums[self.cell(node, label)]);
            }
        }
        let at = node as usize;
        if found > self.most[at] {
            (self.most[at], self.best[at]) = (found, 0);
        }
    }

    /// Returns whether labels are left.
    fn choose(&mut self, node: u32) -> bool {
        let at = node as usize;
        let mut found = 0;
        for edge in self.rows.edges(node) {
            if self.done[edge] == self.pass {
                let label = self.labels[self.rows.targets[edge] as usize];
                if self.sums[self.cell(node, label)] == self.most[at] {
                    found = found.max(!label);
                }
            }
        }
        self.best[at] = self.best[at].max(found);
        let rest = self.left[at] - self.counted[at];
        self.left[at] = if rest < self.most[at] { 0 } else { rest };
        self.left[at] != 0
    }
}
