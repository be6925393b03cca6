//! The known name that a wrong one was probably meant to be.

/// Longest name that is compared, in characters: the work is quadratic.
const CHARACTERS_MAX: usize = 64;

/// Returns the known name that `name` differs least from, if it is near: at most a third of its
/// letters are wrong, missing, too many or swapped with their neighbours. Capitals do not count.
///
/// ```
/// use seawall_graph::nearest;
/// assert_eq!(nearest("gird", ["rmat", "grid", "chain"]), Some("grid"));
/// assert_eq!(nearest("ring", ["rmat", "chain"]), None);
/// ```
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let given = letters(name)?;
    let distance = |known: &'a str| {
        let letters = letters(known)?;
        let most = given.len().max(letters.len()) / 3;
        if letters.len().abs_diff(given.len()) > most {
            return None;
        }
        let distance = distance(&given, &letters);
        (distance <= most).then_some((distance, known))
    };
    let near = known.into_iter().filter_map(distance);
    near.min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| known)
}

/// Returns the question after `name` in an error: empty, or ` (did you mean "grid"?)`.
pub fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(name, known).map_or_else(String::new, |near| format!(" (did you mean {near:?}?)"))
}

/// The letters of a name that is compared.
fn letters(name: &str) -> Option<Vec<char>> {
    let letters: Vec<char> = name.chars().take(CHARACTERS_MAX + 1).collect();
    let is_compared = (1..=CHARACTERS_MAX).contains(&letters.len());
    let lower = letters.iter().map(char::to_ascii_lowercase);
    is_compared.then(|| lower.collect())
}

/// Changes of a letter, insertions, removals and swaps of neighbours that lead from `a` to `b`
/// (optimal string alignment).
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for (i, letter) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, other) in b.iter().enumerate() {
            let change = above[j] + usize::from(letter != other);
            let mut least = change.min(above[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *letter == b[j - 1] && a[i - 1] == *other {
                least = least.min(before[j - 1] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_count_single_changes() {
        let of = |a: &str, b: &str| distance(&letters(a).unwrap(), &letters(b).unwrap());
        for (a, b, expected) in [
            ("grid", "grid", 0),
            ("gird", "grid", 1),
            ("grd", "grid", 1),
            ("griid", "grid", 1),
            ("GRAD", "grid", 1),
            ("chain", "rmat", 4),
        ] {
            assert_eq!(of(a, b), expected, "{a} {b}");
            assert_eq!(of(b, a), expected, "{b} {a}");
        }
    }

    #[test]
    fn only_near_names_are_meant() {
        let names = ["value", "node", "name"];
        assert_eq!(nearest("vlaue", names), Some("value"));
        assert_eq!(nearest("nod", names), Some("node"));
        assert_eq!(nearest("weight", names), None);
        assert_eq!(nearest("", names), None);
        assert_eq!(nearest(&"value".repeat(20), names), None);
        assert_eq!(did_you_mean("nmae", names), " (did you mean \"name\"?)");
        assert_eq!(did_you_mean("x", names), "");
    }
}
