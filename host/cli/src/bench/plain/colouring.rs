//! Colourings.

use super::Rows;

const NONE: u32 = u32::MAX;

/// Colours that neighbours notify a node of, by a bit each.
const NOTIFIED: u32 = 32;

/// Colours that a search checks at a time.
const WINDOW: u32 = 64;

/// The least colour that no neighbour has, node after node by degree and then by a mixed number.
pub(in super::super) fn colouring(rows: Rows<'_>) -> Vec<u32> {
    let nodes = rows.nodes();
    let count = nodes as usize;
    let priority =
        |node: u32| u64::from(rows.degree(node)) << 32 | u64::from(node.wrapping_mul(0x9E37_79B1));
    let priorities: Vec<u64> = (0..nodes).map(priority).collect();
    let mut colouring = Colouring {
        rows,
        colours: vec![NONE; count],
        used: vec![0; count],
        bases: vec![0; count],
        waits: vec![0; count],
    };
    let (mut ready, mut next) = (Vec::with_capacity(count), Vec::with_capacity(count));
    let (mut full, mut later) = (Vec::new(), Vec::new());
    for node in 0..nodes {
        let own = priorities[node as usize];
        let before = rows.row(node).iter();
        let before = before.filter(|other| priorities[**other as usize] > own);
        let before = before.count() as u32;
        colouring.waits[node as usize] = before;
        if before == 0 {
            ready.push(node);
        }
    }
    while !(ready.is_empty() && full.is_empty()) {
        for node in &ready {
            let colour = (!colouring.used[*node as usize]).trailing_zeros();
            if colour == NOTIFIED {
                full.push(*node);
            } else {
                colouring.settle(*node, colour, &mut next);
            }
        }
        later.clear();
        for node in &full {
            colouring.look(*node, &mut next, &mut later);
        }
        std::mem::swap(&mut full, &mut later);
        std::mem::swap(&mut ready, &mut next);
        next.clear();
    }
    colouring.colours
}

struct Colouring<'g> {
    rows: Rows<'g>,
    colours: Vec<u32>,
    /// Bits of the colours below [`NOTIFIED`] that neighbours have.
    used: Vec<u32>,
    /// The first colour that a search has not checked yet.
    bases: Vec<u32>,
    /// Uncoloured neighbours that precede each node.
    waits: Vec<u32>,
}

impl Colouring<'_> {
    /// Colours a node, and lists neighbours that then wait for none.
    fn settle(&mut self, node: u32, colour: u32, next: &mut Vec<u32>) {
        self.colours[node as usize] = colour;
        let bit = 1_u32.checked_shl(colour).unwrap_or(0);
        for other in self.rows.row(node) {
            if self.colours[*other as usize] != NONE {
                continue;
            }
            self.used[*other as usize] |= bit;
            let waits = &mut self.waits[*other as usize];
            *waits = waits.wrapping_sub(1);
            if *waits == 0 {
                next.push(*other);
            }
        }
    }

    /// Checks the next window of colours.
    fn look(&mut self, node: u32, next: &mut Vec<u32>, later: &mut Vec<u32>) {
        let base = self.bases[node as usize].max(NOTIFIED);
        let mut taken = 0_u64;
        for other in self.rows.row(node) {
            let far = self.colours[*other as usize].wrapping_sub(base);
            taken |= 1_u64.checked_shl(far).unwrap_or(0);
        }
        let free = (!taken).trailing_zeros();
        self.bases[node as usize] = base + WINDOW;
        if free == WINDOW {
            later.push(node);
        } else {
            self.settle(node, base + free, next);
        }
    }
}
