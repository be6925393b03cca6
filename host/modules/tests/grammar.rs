//! Reachability under a grammar against a plain worklist, on random graphs and grammars.

use proptest::prelude::*;
use seawall_modules::ModuleError;
use seawall_modules::grammar::{Edges, Grammar, Reach, Select, reach};

const GIB: u64 = 1 << 30;

/// A symbol by its number, or its inverse.
#[derive(Clone, Copy, Debug)]
struct Term {
    symbol: usize,
    is_inverse: bool,
}

/// What a left side derives: none, one or two terms.
#[derive(Clone, Debug)]
struct Rule {
    left: Term,
    right: Vec<Term>,
}

#[derive(Clone, Debug)]
struct Arc {
    from: usize,
    to: usize,
    label: Term,
}

impl Term {
    fn text(self) -> String {
        let sign = if self.is_inverse { "~" } else { "" };
        format!("{sign}s{}", self.symbol)
    }
}

/// The pairs of every symbol, one at a time from a list of those that were not looked at.
struct Worklist {
    nodes: usize,
    has: Vec<bool>,
    open: Vec<(usize, usize, usize)>,
}

impl Worklist {
    fn at(&self, symbol: usize, from: usize, to: usize) -> usize {
        (symbol * self.nodes + from) * self.nodes + to
    }

    fn has(&self, term: Term, from: usize, to: usize) -> bool {
        let (from, to) = if term.is_inverse {
            (to, from)
        } else {
            (from, to)
        };
        self.has[self.at(term.symbol, from, to)]
    }

    fn add(&mut self, term: Term, from: usize, to: usize) {
        let (from, to) = if term.is_inverse {
            (to, from)
        } else {
            (from, to)
        };
        let at = self.at(term.symbol, from, to);
        if !std::mem::replace(&mut self.has[at], true) {
            self.open.push((term.symbol, from, to));
        }
    }

    fn solve(nodes: usize, rules: &[Rule], arcs: &[Arc]) -> Self {
        let mut list = Self {
            nodes,
            has: vec![false; SYMBOLS * nodes * nodes],
            open: Vec::new(),
        };
        for arc in arcs {
            list.add(arc.label, arc.from, arc.to);
        }
        for rule in rules.iter().filter(|rule| rule.right.is_empty()) {
            (0..nodes).for_each(|node| list.add(rule.left, node, node));
        }
        while let Some((symbol, from, to)) = list.open.pop() {
            for rule in rules {
                for (place, term) in rule.right.iter().enumerate() {
                    if term.symbol == symbol {
                        let ends = if term.is_inverse {
                            (to, from)
                        } else {
                            (from, to)
                        };
                        list.combine(rule, place, ends.0, ends.1);
                    }
                }
            }
        }
        list
    }

    fn combine(&mut self, rule: &Rule, place: usize, from: usize, to: usize) {
        match (rule.right.as_slice(), place) {
            ([_, second], 0) => {
                for end in 0..self.nodes {
                    if self.has(*second, to, end) {
                        self.add(rule.left, from, end);
                    }
                }
            }
            ([first, _], _) => {
                for begin in 0..self.nodes {
                    if self.has(*first, begin, from) {
                        self.add(rule.left, begin, to);
                    }
                }
            }
            _ => self.add(rule.left, from, to),
        }
    }
}

const SYMBOLS: usize = 5;

fn grammar_text(rules: &[Rule]) -> String {
    let line = |rule: &Rule| {
        let words: Vec<String> = rule.right.iter().map(|term| term.text()).collect();
        format!("{} {}\n", rule.left.text(), words.join("\t"))
    };
    rules.iter().map(line).collect()
}

/// The edges as text, after edges of no symbol that number the nodes.
fn edge_text(nodes: usize, arcs: &[Arc]) -> String {
    let numbers = (0..nodes).map(|node| format!("n{node} n{node} none\n"));
    let arcs = arcs
        .iter()
        .map(|arc| format!("n{} n{} {}\n", arc.from, arc.to, arc.label.text()));
    numbers.chain(arcs).collect()
}

fn on_threads(threads: usize, grammar: &Grammar, edges: &Edges) -> Reach {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.unwrap()
        .install(|| reach(grammar, edges, GIB))
        .unwrap()
}

fn check(nodes: usize, rules: &[Rule], arcs: &[Arc]) {
    let grammar = Grammar::read("random.cnf", &grammar_text(rules)).unwrap();
    let mut edges = Edges::default();
    edges
        .read(&grammar, "random.g", &edge_text(nodes, arcs))
        .unwrap();
    let expected = Worklist::solve(nodes, rules, arcs);
    let (found, shared) = (
        on_threads(1, &grammar, &edges),
        on_threads(3, &grammar, &edges),
    );
    assert_eq!(found.stats.rounds, shared.stats.rounds);
    assert_eq!(found.stats.joins, shared.stats.joins);
    for symbol in 0..SYMBOLS {
        let Some(named) = grammar.symbol(&format!("s{symbol}")) else {
            continue;
        };
        let pairs = |reach: &Reach, select| -> Vec<(usize, usize)> {
            let pairs = reach.pairs(select);
            pairs
                .map(|pair| (pair.from as usize, pair.to as usize))
                .collect()
        };
        let term = Term {
            symbol,
            is_inverse: false,
        };
        let all = (0..nodes).flat_map(|from| (0..nodes).map(move |to| (from, to)));
        let all: Vec<_> = all
            .filter(|(from, to)| expected.has(term, *from, *to))
            .collect();
        let select = |symbol, from, to| Select { symbol, from, to };
        let whole = select(named, None, None);
        assert_eq!(pairs(&found, whole), all, "{}", grammar_text(rules));
        assert_eq!(pairs(&shared, whole), all);
        assert_eq!(found.count(whole), all.len() as u64);
        let to_last = all.iter().copied().filter(|(_, to)| *to == nodes - 1);
        let last = select(named, None, Some(nodes as u32 - 1));
        assert_eq!(pairs(&found, last), to_last.collect::<Vec<_>>());
        let mut turned: Vec<_> = all.iter().map(|(from, to)| (*to, *from)).collect();
        turned.sort_unstable();
        assert_eq!(pairs(&found, select(named.inverse(), None, None)), turned);
    }
}

fn term() -> impl Strategy<Value = Term> {
    (0..SYMBOLS, prop::bool::weighted(0.25))
        .prop_map(|(symbol, is_inverse)| Term { symbol, is_inverse })
}

fn rule() -> impl Strategy<Value = Rule> {
    let long = prop::sample::select(vec![0, 1, 2, 2, 2, 2]);
    (term(), term(), term(), long).prop_map(|(left, first, second, long)| Rule {
        left,
        right: [first, second][..long].to_vec(),
    })
}

/// Edges of a shape: free, a long path, a star, loops.
fn arcs(nodes: usize) -> impl Strategy<Value = Vec<Arc>> {
    let arc = (0..nodes, 0..nodes, term());
    (0..4_u8, prop::collection::vec(arc, 0..90)).prop_map(move |(shape, arcs)| {
        let place = |(at, (from, to, label)): (usize, (usize, usize, Term))| {
            let (from, to) = match shape {
                0 => (from, to),
                1 => (at % nodes, (at + 1) % nodes),
                2 => (0, to),
                _ => (from, from),
            };
            Arc { from, to, label }
        };
        arcs.into_iter().enumerate().map(place).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]
    #[test]
    fn pairs_are_those_of_a_plain_worklist(
        (nodes, arcs) in (1_usize..130).prop_flat_map(|nodes| (Just(nodes), arcs(nodes))),
        rules in prop::collection::vec(rule(), 1..10),
    ) {
        check(nodes, &rules, &arcs);
    }

    #[test]
    fn any_text_is_refused_or_solved(
        grammar in "([ab~# \t]{0,6}(Count:)?\n){0,6}",
        edges in "([ab~#] [ab~] ~?[abx#]\n|\\PC{0,8}\n){0,8}",
    ) {
        if let Ok(grammar) = Grammar::read("any.cnf", &grammar) {
            let mut read = Edges::default();
            if read.read(&grammar, "any.g", &edges).is_ok() {
                reach(&grammar, &read, GIB).unwrap();
            }
        }
    }
}

fn edges_of(grammar: &Grammar, text: &str) -> Edges {
    let mut edges = Edges::default();
    edges.read(grammar, "test.g", text).unwrap();
    edges
}

fn whole(grammar: &Grammar) -> Select {
    Select {
        symbol: grammar.start,
        from: None,
        to: None,
    }
}

#[test]
fn long_nests_take_a_round_a_level() {
    let grammar = Grammar::read("nest.cnf", "S open close\nS open end\nend S close").unwrap();
    let depth = 3000;
    let line = |node: usize| {
        let label = if node < depth { "open" } else { "close" };
        format!("{node} {} {label}\n", node + 1)
    };
    let edges = edges_of(&grammar, &(0..2 * depth).map(line).collect::<String>());
    let found = reach(&grammar, &edges, GIB).unwrap();
    let mirrored = (0..depth as u32).map(|from| (from, 2 * depth as u32 - from));
    let pairs = found
        .pairs(whole(&grammar))
        .map(|pair| (pair.from, pair.to));
    assert!(pairs.eq(mirrored));
    assert!(found.stats.rounds > depth as u64 / 2, "{:?}", found.stats);
}

#[test]
fn nothing_is_found_in_nothing() {
    let grammar = Grammar::read("empty.cnf", "S\nS S S").unwrap();
    let found = reach(&grammar, &edges_of(&grammar, "# no edge\n\n"), GIB).unwrap();
    assert_eq!((found.count(whole(&grammar)), found.stats.rounds), (0, 0));
    let found = reach(&grammar, &edges_of(&grammar, "a b other"), GIB).unwrap();
    assert_eq!(found.count(whole(&grammar)), 2);
}

#[test]
fn more_than_the_budget_is_refused_with_the_figure() {
    let grammar = Grammar::read("path.cnf", "P e\nP P P").unwrap();
    let cycle: String = (0..1500)
        .map(|node| format!("{node} {} e\n", (node + 1) % 1500))
        .collect();
    let edges = edges_of(&grammar, &cycle);
    for budget in [0, 1 << 10, 10 << 20, 50 << 20] {
        let refused = reach(&grammar, &edges, budget).unwrap_err();
        let ModuleError::TooManyPairs { needed, limit, .. } = refused else {
            panic!("{refused}");
        };
        assert!(limit == budget && needed > budget, "{needed}");
    }
    let found = reach(&grammar, &edges, GIB).unwrap();
    assert_eq!(found.count(whole(&grammar)), 2_250_000);
    assert!(found.stats.bytes < GIB);
}

/// Asserts that a grammar, or edges if `edges` are given, are refused at a line for a reason.
#[track_caller]
fn refused(text: &str, edges: Option<&str>, line: usize, reason: &str) {
    let read = Grammar::read("bad", text)
        .and_then(|grammar| Edges::default().read(&grammar, "bad", edges.unwrap_or_default()));
    let message = read.unwrap_err().to_string();
    assert!(message.starts_with(&format!("bad:{line}: ")), "{message}");
    assert!(message.contains(reason), "{message}");
}

#[test]
fn errors_name_the_line_and_the_value() {
    refused("", None, 1, "no production");
    refused("# nothing\n\n", None, 2, "no production");
    refused("S a\nS a b c\n", None, 2, "`c` is a third symbol");
    refused("S ~\n", None, 1, "`~` names no symbol");
    refused("S ~~a\n", None, 1, "`~~a` names no symbol");
    let many: String = (0..17).map(|number| format!("s{number}\n")).collect();
    refused(&many, None, 17, "`s16` is symbol 17");
    refused("S a\nCount:\nT\n", None, 3, "no symbol `T`");
    refused("S a\nCount:\n", None, 2, "no start symbol");
    refused("S a\nCount:\nS\nS b\n", None, 4, "`S` after `Count:`");
    refused("S a", Some("x y a\n\nx y\n"), 3, "`x y` is no edge");
    refused("S a", Some("x y a 7"), 1, "`x y a 7` is no edge");
}

#[test]
fn files_of_other_tools_are_read_as_they_are() {
    let text = "S\tAS\tb\r\nAS\ta\tS\r\nS\tc\r\n\r\nCount:\r\nAS\r\n";
    let grammar = Grammar::read("anbn.cnf", text).unwrap();
    assert_eq!(grammar.name(grammar.start), "AS");
    assert_eq!(grammar.symbols().count(), 5);
    let edges = edges_of(
        &grammar,
        "0\t1\ta\n1\t2\tc\nhttp://x#y\t0\ta # a comment\n2\t3\tunknown\n",
    );
    assert_eq!(
        (edges.names.len(), edges.edges.len(), edges.others),
        (5, 3, 1)
    );
    assert_eq!(edges.node("http://x#y"), Some(3));
    assert_eq!(
        reach(&grammar, &edges, GIB).unwrap().count(whole(&grammar)),
        1
    );
}
