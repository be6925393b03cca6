//! Orders of directed graphs in rows.

/// Rows of a directed graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    /// Row offsets, one more than there are nodes.
    pub offsets: Vec<u32>,
    /// Targets.
    pub targets: Vec<u32>,
}

impl Rows {
    /// Rows of lists.
    #[must_use]
    pub fn of(lists: &[Vec<u32>]) -> Self {
        let mut rows = Self::default();
        rows.offsets.push(0);
        for list in lists {
            rows.targets.extend(list);
            rows.offsets.push(rows.targets.len() as u32);
        }
        rows
    }

    /// Makes these the rows of fewer than 2^32 edges (from, to), which are gone through twice.
    pub(crate) fn fill(&mut self, count: usize, edges: impl Iterator<Item = (u32, u32)> + Clone) {
        self.offsets.clear();
        self.offsets.resize(count + 2, 0);
        edges.clone().for_each(|(from, _)| self.count(from));
        let count = self.offsets.iter().sum::<u32>();
        self.begin(count as usize);
        edges.for_each(|(from, to)| self.place(from, to));
        self.offsets.pop();
    }

    /// Counts an edge, two entries after its node.
    fn count(&mut self, from: u32) {
        let count = &mut self.offsets[from as usize + 2];
        *count = count.wrapping_add(1);
    }

    /// Makes counts the offsets of rows, one entry after each node, where the next edge is placed.
    fn begin(&mut self, edges: usize) {
        let mut before = 0_u32;
        for offset in &mut self.offsets {
            before += *offset;
            *offset = before;
        }
        self.targets.resize(edges, 0);
    }

    fn place(&mut self, from: u32, to: u32) {
        let next = &mut self.offsets[from as usize + 1];
        self.targets[*next as usize] = to;
        *next += 1;
    }

    /// Number of nodes.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Targets of a node.
    #[must_use]
    pub fn row(&self, node: usize) -> &[u32] {
        &self.targets[self.offsets[node] as usize..self.offsets[node + 1] as usize]
    }

    /// The same edges the other way round.
    #[must_use]
    pub fn reversed(&self) -> Self {
        let nodes = self.nodes();
        let turned = (0..nodes).flat_map(|node| {
            let row = self.row(node).iter();
            row.map(move |to| (*to, node as u32))
        });
        rows(nodes, turned)
    }

    /// The same edges, each once, with sorted rows.
    pub(crate) fn distinct(mut self) -> Self {
        let mut end = 0;
        for node in 0..self.nodes() {
            let listed = self.offsets[node] as usize..self.offsets[node + 1] as usize;
            self.targets[listed.clone()].sort_unstable();
            let first = end;
            self.offsets[node] = first as u32;
            for at in listed {
                if end == first || self.targets[end - 1] != self.targets[at] {
                    self.targets[end] = self.targets[at];
                    end += 1;
                }
            }
        }
        if let Some(last) = self.offsets.last_mut() {
            *last = end as u32;
        }
        self.targets.truncate(end);
        self
    }

    /// All nodes in reverse postorder of depth-first searches from `roots`; nodes that they do not
    /// reach follow. Edges go forward but those that close loops of the search.
    #[must_use]
    pub fn reverse_postorder(&self, roots: impl Iterator<Item = u32>) -> Vec<u32> {
        let mut order = self.reached_order(roots);
        let mut seen = vec![false; self.nodes()];
        for node in &order {
            seen[*node as usize] = true;
        }
        order.extend((0..self.nodes() as u32).filter(|node| !seen[*node as usize]));
        order
    }

    /// The nodes that `roots` reach, in reverse postorder of depth-first searches from them.
    #[must_use]
    pub fn reached_order(&self, roots: impl Iterator<Item = u32>) -> Vec<u32> {
        let mut seen = vec![false; self.nodes()];
        let mut order = Vec::new();
        let roots: Vec<u32> = roots.collect();
        for root in roots.into_iter().rev() {
            self.search(root, &mut seen, &mut order);
        }
        order.reverse();
        order
    }

    fn search(&self, root: u32, seen: &mut [bool], postorder: &mut Vec<u32>) {
        if std::mem::replace(&mut seen[root as usize], true) {
            return;
        }
        let mut open = vec![(root, 0_usize)];
        while let Some((node, next)) = open.last_mut() {
            // From the last to the first: the first successor then comes first in the order.
            match self.row(*node as usize).iter().nth_back(*next) {
                Some(to) => {
                    *next += 1;
                    if !std::mem::replace(&mut seen[*to as usize], true) {
                        open.push((*to, 0));
                    }
                }
                None => {
                    postorder.push(*node);
                    open.pop();
                }
            }
        }
    }

    /// Calls `each` with every strong component that `roots` reach, after those that it leads to
    /// (R. Tarjan, "Depth-first search and linear graph algorithms", 1972). A loop, since recursion,
    /// as in petgraph, would overflow the stack on long chains.
    pub(crate) fn each_component(
        &self,
        roots: impl Iterator<Item = u32>,
        Components {
            least,
            open,
            members,
        }: &mut Components,
        mut each: impl FnMut(&[u32]),
    ) {
        const DONE: u32 = u32::MAX;
        least.clear();
        least.resize(self.nodes(), 0);
        let mut seen = 0;
        for root in roots {
            let mut next = (least[root as usize] == 0).then_some(root);
            loop {
                if let Some(node) = next.take() {
                    seen += 1;
                    least[node as usize] = seen;
                    open.push((node, self.offsets[node as usize], seen));
                    members.push(node);
                }
                let Some((node, edge, number)) = open.last_mut() else {
                    break;
                };
                if *edge < self.offsets[*node as usize + 1] {
                    let to = self.targets[*edge as usize];
                    *edge += 1;
                    match least[to as usize] {
                        0 => next = Some(to),
                        known => least[*node as usize] = least[*node as usize].min(known),
                    }
                    continue;
                }
                let (node, number) = (*node, *number);
                open.pop();
                let found = least[node as usize];
                if let Some((parent, ..)) = open.last() {
                    least[*parent as usize] = least[*parent as usize].min(found);
                }
                if found == number {
                    let first = members.iter().rposition(|member| *member == node);
                    let first = first.unwrap_or(0);
                    let component = &members[first..];
                    component.iter().for_each(|one| least[*one as usize] = DONE);
                    each(component);
                    members.truncate(first);
                }
            }
        }
    }

    /// A shortest way from one of `from` to `to`, both included; `None` without one. Costs a search.
    #[must_use]
    pub fn path(&self, from: impl Iterator<Item = u32>, to: u32) -> Option<Vec<u32>> {
        const UNSEEN: u32 = u32::MAX;
        let mut parent = vec![UNSEEN; self.nodes()];
        let mut open = std::collections::VecDeque::new();
        for root in from {
            if parent[root as usize] == UNSEEN {
                parent[root as usize] = root;
                open.push_back(root);
            }
        }
        while let Some(node) = open.pop_front() {
            if node == to {
                let mut path = vec![node];
                let mut at = node;
                while parent[at as usize] != at {
                    at = parent[at as usize];
                    path.push(at);
                }
                path.reverse();
                return Some(path);
            }
            for next in self.row(node as usize) {
                if parent[*next as usize] == UNSEEN {
                    parent[*next as usize] = node;
                    open.push_back(*next);
                }
            }
        }
        None
    }
}

/// Memory of a search for strong components.
#[derive(Default)]
pub(crate) struct Components {
    /// The least number that each node is known to lead to; 0 before it is seen.
    least: Vec<u32>,
    /// Nodes on the way, their next edges, and their numbers.
    open: Vec<(u32, u32, u32)>,
    /// Nodes of open components.
    members: Vec<u32>,
}

/// Rows of fewer than 2^32 edges (from, to), which are gone through twice.
pub(crate) fn rows(count: usize, edges: impl Iterator<Item = (u32, u32)> + Clone) -> Rows {
    let mut rows = Rows::default();
    rows.fill(count, edges);
    rows
}

/// Takes edges: from, to.
pub(crate) type Visit<'v> = dyn FnMut(u32, u32) + 'v;

/// Rows of the edges that `each` visits, twice and in the same order.
///
/// # Errors
/// Their number, if it is no word.
pub(crate) fn rows_by(count: usize, each: &dyn Fn(&mut Visit<'_>)) -> Result<Rows, u64> {
    let mut rows = Rows::default();
    rows.offsets.resize(count + 2, 0);
    let mut edges = 0_u64;
    each(&mut |from, _| {
        edges += 1;
        rows.count(from);
    });
    if edges > u64::from(u32::MAX) {
        return Err(edges);
    }
    rows.begin(edges as usize);
    each(&mut |from, to| rows.place(from, to));
    rows.offsets.pop();
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_of_an_order_go_forward() {
        let rows = Rows::of(&[vec![3], vec![], vec![1], vec![2, 1]]);
        assert_eq!(rows.reverse_postorder([0].into_iter()), [0, 3, 2, 1]);
        assert_eq!(rows.path([0].into_iter(), 1), Some(vec![0, 3, 1]));
        assert_eq!(rows.path([1].into_iter(), 0), None);
        assert_eq!(rows.reversed().row(1), [2, 3]);
    }

    #[test]
    fn components_come_after_those_that_they_lead_to() {
        // 0 -> 1 <-> 2 -> 3 -> 3, 4 -> 1; 5 is not reached.
        let rows = Rows::of(&[vec![1], vec![2], vec![1, 3], vec![3], vec![1], vec![0]]);
        let mut found = Vec::new();
        let mut memory = Components::default();
        rows.each_component([0, 4, 0].into_iter(), &mut memory, |members| {
            let mut members = members.to_vec();
            members.sort_unstable();
            found.push(members);
        });
        assert_eq!(found, [vec![3], vec![1, 2], vec![0], vec![4]]);
        // A figure of eight whose lower half is found last.
        let rows = Rows::of(&[vec![1, 2], vec![0], vec![3], vec![2, 0]]);
        let mut sizes = Vec::new();
        rows.each_component(0..4, &mut memory, |members| sizes.push(members.len()));
        assert_eq!(sizes, [4]);
    }
}
