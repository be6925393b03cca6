//! Accesses of waves, compared with their facts.
//!
//! A session that checks facts runs on one thread, which records accesses while a wave runs and
//! compares them when it ends. Records take 32 bytes for each word of the wave's registers.

use seawall_device::own::{Access, Facts, How, Operand, Recorder, Started, Work};
use std::cell::RefCell;

/// A fact about a wave that is not true, or a result that is not certain.
///
/// Facts limit a wave: using less than declared only makes its plan worse. Using an undeclared
/// operand or array of the graph ends any run with a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FactViolation {
    /// It declares that it writes, but does not read an operand, which means all words, and left
    /// one out.
    LeftOut {
        /// The operand.
        operand: Operand,
        /// The first of these words.
        word: u32,
    },
    /// It declares that it works word by word, and an item used another word than its own.
    OtherWord {
        /// The operand.
        operand: Operand,
        /// The item.
        item: u32,
        /// Number of the word.
        word: u32,
    },
    /// An item read a word that another one stored, so that the result depends on their order.
    Race {
        /// The operand.
        operand: Operand,
        /// Number of the word.
        word: u32,
        /// The items.
        items: [u32; 2],
    },
    /// It declares less work than it does.
    MoreWork {
        /// Accesses of words and of the graph.
        accesses: u64,
        /// The most that its declared work allows.
        allowed: u64,
    },
}

impl FactViolation {
    /// Describes it, and the correct declaration.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::LeftOut { operand, word } => format!(
                "declares that it fills {operand:?} and left word {word} out; declare that it reads {operand:?} too, so that the word keeps its value"
            ),
            Self::OtherWord {
                operand,
                item,
                word,
            } => format!(
                "declares that it works word by word, and item {item} used word {word} of {operand:?}; leave word_wise out"
            ),
            Self::Race {
                operand,
                word,
                items: [one, other],
            } => format!(
                "reads word {word} of {operand:?} in item {one} and stores it in item {other}, whichever comes first; store to another operand, or use latest and an operation such as min"
            ),
            Self::MoreWork { accesses, allowed } => format!(
                "made {accesses} accesses where its declared work allows {allowed}; declare wide work"
            ),
        }
    }
}

/// Most accesses for each word of a wave whose work is by word, and beyond that for the wave.
const ACCESSES: (u64, u64) = (16, 256);

/// Records accesses of the wave that runs on this thread.
#[derive(Debug)]
pub(crate) struct Notes;

thread_local! {
    static NOTED: RefCell<Noted> = const { RefCell::new(Noted { running: None, first: None }) };
}

struct Noted {
    running: Option<Notebook>,
    /// The number in the program of the first wave with a violated fact, and that violation.
    first: Option<(u32, FactViolation)>,
}

/// Takes the number in the program of the first wave on this thread with a violated fact, and that
/// violation.
pub(crate) fn first_violation() -> Option<(u32, FactViolation)> {
    NOTED.with_borrow_mut(|noted| noted.first.take())
}

impl Recorder for Notes {
    fn begin(wave: Started) {
        NOTED.with_borrow_mut(|noted| noted.running = Some(Notebook::new(wave)));
    }

    fn note(access: Access) {
        NOTED.with_borrow_mut(|noted| {
            if let Some(notebook) = &mut noted.running {
                notebook.note(access);
            }
        });
    }

    fn end(is_well: bool) {
        NOTED.with_borrow_mut(|noted| {
            let notebook = noted.running.take().filter(|_| is_well);
            let Some(notebook) = notebook else { return };
            let wave = notebook.started.wave;
            let lie = notebook.lie();
            noted.first = noted.first.or(lie.map(|lie| (wave, lie)));
        });
    }
}

struct Notebook {
    started: Started,
    accesses: u64,
    words: [Vec<Use>; 4],
    /// The first violation that a single access shows.
    seen: Option<FactViolation>,
}

/// A wave's use of a word.
#[derive(Clone, Copy, Default)]
struct Use {
    /// An item that read it as it was before the wave, and another such item.
    loaded: [Option<u32>; 2],
    /// An item that stored it, and another such item.
    stored: [Option<u32>; 2],
}

impl Notebook {
    fn new(started: Started) -> Self {
        Self {
            words: started
                .words
                .map(|words| vec![Use::default(); words as usize]),
            started,
            accesses: 0,
            seen: None,
        }
    }

    fn note(&mut self, access: Access) {
        self.accesses += 1;
        let Some(operand) = access.operand else {
            return;
        };
        let lie = self.other_word(operand, &access).or_else(|| {
            let item = access.item?;
            // An index out of range ends the wave as a fault.
            let used = self.words[operand as usize].get_mut(access.at as usize)?;
            used.note(item, access.how);
            let items = used.race()?;
            let word = access.at;
            Some(FactViolation::Race {
                operand,
                word,
                items,
            })
        });
        self.seen = self.seen.or(lie);
    }

    fn other_word(&self, operand: Operand, access: &Access) -> Option<FactViolation> {
        let (item, word) = (access.item?, access.at);
        let is_other = self.started.facts.word_wise && item != word;
        is_other.then_some(FactViolation::OtherWord {
            operand,
            item,
            word,
        })
    }

    /// The first fact that is not true.
    fn lie(&self) -> Option<FactViolation> {
        let too_much = || self.more_work();
        self.seen.or_else(|| self.left_out()).or_else(too_much)
    }

    fn left_out(&self) -> Option<FactViolation> {
        let Facts { reads, writes, .. } = self.started.facts;
        let filled = writes.iter().filter(|operand| !reads.contains(operand));
        filled.copied().find_map(|operand| {
            let mut words = (0..).zip(&self.words[operand as usize]);
            let (word, _) = words.find(|(_, used)| used.stored[0].is_none())?;
            Some(FactViolation::LeftOut { operand, word })
        })
    }

    fn more_work(&self) -> Option<FactViolation> {
        let Work::Words(operand) = self.started.facts.work else {
            return None;
        };
        let (each, all) = ACCESSES;
        let words = u64::from(self.started.words[operand as usize]);
        let (accesses, allowed) = (self.accesses, words * each + all);
        (accesses > allowed).then_some(FactViolation::MoreWork { accesses, allowed })
    }
}

impl Use {
    fn note(&mut self, item: u32, how: How) {
        match how {
            How::Load => keep(&mut self.loaded, item),
            How::Store | How::Change => keep(&mut self.stored, item),
            How::Latest => {}
        }
    }

    /// An item that read the word and another one that stored it.
    fn race(&self) -> Option<[u32; 2]> {
        let others = |reader: u32| {
            let mut stored = self.stored.into_iter().flatten();
            stored.find(|item| *item != reader)
        };
        let mut loaded = self.loaded.into_iter().flatten();
        loaded.find_map(|reader| Some([reader, others(reader)?]))
    }
}

/// Keeps the first two items that differ: of two there is one that is not a third.
fn keep([first, second]: &mut [Option<u32>; 2], item: u32) {
    if *first.get_or_insert(item) != item {
        second.get_or_insert(item);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_that_reads_what_any_other_stores_races() {
        use How::{Change, Latest, Load, Store};
        let race = |accesses: &[(u32, How)]| {
            let mut used = Use::default();
            accesses
                .iter()
                .for_each(|(item, how)| used.note(*item, *how));
            used.race()
        };
        assert_eq!(race(&[(1, Load), (1, Store)]), None);
        assert_eq!(race(&[(1, Load), (2, Store)]), Some([1, 2]));
        assert_eq!(race(&[(2, Change), (1, Load)]), Some([1, 2]));
        assert_eq!(race(&[(1, Store), (1, Load), (2, Load)]), Some([2, 1]));
        assert_eq!(race(&[(1, Load), (1, Store), (2, Store)]), Some([1, 2]));
        assert_eq!(race(&[(1, Store), (2, Store), (3, Latest)]), None);
    }
}
