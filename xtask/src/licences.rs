//! `cargo xtask licences`: every dependency has an allowed licence and origin.
//!
//! Reads the list of `deny.toml`, so that `cargo deny check licenses sources` and
//! this command judge by the same file; this one needs nothing installed. An
//! expression passes when some choice of its alternatives is allowed entirely, and
//! an origin when it is a registry, since a repository can change under a name.

use crate::error::{Error, refuse_any};
use crate::metadata::{self, Package};
use crate::workspace;

pub(crate) fn run() -> Result<(), Error> {
    let rules = Rules::parse(&workspace::read(&workspace::root().join("deny.toml"))?);
    let packages = metadata::packages()?;
    let findings: Vec<String> = packages.iter().filter_map(|it| rules.finding(it)).collect();
    refuse_any(
        "packages with a licence or an origin that is not allowed",
        findings,
        "drop the dependency, or extend the lists in deny.toml",
    )?;
    println!("{} packages have allowed licences", packages.len());
    Ok(())
}

/// The licences and origins that `deny.toml` allows.
struct Rules {
    licences: Vec<String>,
}

impl Rules {
    fn parse(text: &str) -> Self {
        Self {
            licences: list(text, "allow = ["),
        }
    }

    fn finding(&self, package: &Package) -> Option<String> {
        let label = package.label();
        let Some(licence) = package.license.as_deref() else {
            return Some(format!("{label}: states no licence"));
        };
        if !Expression::new(licence).passes(&self.licences) {
            return Some(format!("{label}: licence {licence}"));
        }
        let source = package.source.as_deref()?;
        let is_published = source.starts_with("registry+");
        (!is_published).then(|| format!("{label}: comes from {source}, not from a registry"))
    }
}

/// The quoted items after `opening` at a line's start, up to `]`.
fn list(text: &str, opening: &str) -> Vec<String> {
    let lines = text.lines().skip_while(|line| !line.starts_with(opening));
    let body: Vec<&str> = lines.collect();
    let body = body.join("\n");
    let body = body.strip_prefix(opening).unwrap_or_default();
    let items = body.split(']').next().unwrap_or_default().split('"');
    items.skip(1).step_by(2).map(str::to_owned).collect()
}

/// An SPDX expression being read: `OR` over `AND` over names and parentheses.
struct Expression {
    tokens: std::vec::IntoIter<String>,
    next: Option<String>,
}

impl Expression {
    fn new(text: &str) -> Self {
        // Old manifests write `MIT/Apache-2.0` for OR.
        let text = text
            .replace('/', " OR ")
            .replace('(', " ( ")
            .replace(')', " ) ");
        let tokens: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        let mut tokens = tokens.into_iter();
        let next = tokens.next();
        Self { tokens, next }
    }

    fn passes(mut self, allowed: &[String]) -> bool {
        let answer = self.alternatives(allowed);
        answer && self.next.is_none()
    }

    fn take(&mut self) -> Option<String> {
        std::mem::replace(&mut self.next, self.tokens.next())
    }

    fn takes(&mut self, word: &str) -> bool {
        let is_next = self.next.as_deref() == Some(word);
        if is_next {
            self.take();
        }
        is_next
    }

    fn alternatives(&mut self, allowed: &[String]) -> bool {
        let mut answer = self.conjunction(allowed);
        while self.takes("OR") {
            answer |= self.conjunction(allowed);
        }
        answer
    }

    fn conjunction(&mut self, allowed: &[String]) -> bool {
        let mut answer = self.term(allowed);
        while self.takes("AND") {
            answer &= self.term(allowed);
        }
        answer
    }

    fn term(&mut self, allowed: &[String]) -> bool {
        if self.takes("(") {
            let answer = self.alternatives(allowed);
            return self.takes(")") && answer;
        }
        let Some(mut name) = self.take() else {
            return false;
        };
        if self.takes("WITH") {
            let exception = self.take().unwrap_or_default();
            name = format!("{name} WITH {exception}");
        }
        allowed.contains(&name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DENY: &str = "[licenses]\nallow = [\n  \"MIT\", # permissive\n  \"Apache-2.0\",\n]\n\
                        [sources]\nunknown-git = \"deny\"\n";

    fn verdict(licence: &str) -> bool {
        Expression::new(licence).passes(&Rules::parse(DENY).licences)
    }

    #[test]
    fn some_choice_must_be_allowed_entirely() {
        for (licence, expected) in [
            ("MIT", true),
            ("MIT OR GPL-3.0", true),
            ("GPL-3.0 OR MIT", true),
            ("MIT/Apache-2.0", true),
            ("MIT AND GPL-3.0", false),
            ("(MIT OR GPL-3.0) AND Apache-2.0", true),
            ("(GPL-3.0 OR ISC) AND MIT", false),
            ("Apache-2.0 WITH LLVM-exception", false),
            ("MIT AND", false),
            ("(MIT", false),
            ("MIT MIT", false),
            ("", false),
        ] {
            assert_eq!(verdict(licence), expected, "{licence}");
        }
    }

    #[test]
    fn findings_name_package_and_reason() {
        let rules = Rules::parse(DENY);
        let mut package = Package {
            name: "any".to_owned(),
            version: "1.0.0".to_owned(),
            license: Some("MIT".to_owned()),
            rust_version: None,
            source: Some("registry+https://example.org/index".to_owned()),
        };
        assert_eq!(rules.finding(&package), None);
        package.source = Some("git+https://example.com/any".to_owned());
        assert!(
            rules
                .finding(&package)
                .is_some_and(|it| it.contains("example.com"))
        );
        package.license = None;
        assert!(
            rules
                .finding(&package)
                .is_some_and(|it| it.contains("no licence"))
        );
    }
}
