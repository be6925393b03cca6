//! Wrong arguments as JSON.

use std::ffi::OsStr;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use serde_json::{Map, Value, json};

/// Returns whether arguments that could not be parsed request JSON: `--json`, or `--format json`.
pub(crate) fn asks_for_json<S: AsRef<OsStr>>(arguments: &[S]) -> bool {
    let is = |argument: &S, text: &str| argument.as_ref() == OsStr::new(text);
    let options = arguments.split(|argument| is(argument, "--")).next();
    let options = options.unwrap_or(&[]);
    let has = |text: &str| options.iter().any(|argument| is(argument, text));
    let mut pairs = options.windows(2);
    has("--json")
        || has("--format=json")
        || pairs.any(|pair| is(&pair[0], "--format") && is(&pair[1], "json"))
}

/// Returns the object of wrong arguments.
pub(crate) fn of_usage(error: &clap::Error) -> Value {
    let mut fields = Map::new();
    fields.insert("kind".to_owned(), "usage".into());
    fields.insert("problem".to_owned(), problem(error.kind()).into());
    for (context, name) in [
        (ContextKind::InvalidArg, "argument"),
        (ContextKind::InvalidSubcommand, "command"),
        (ContextKind::InvalidValue, "value"),
        (ContextKind::ValidValue, "allowed"),
        (ContextKind::PriorArg, "conflicts_with"),
    ] {
        if let Some(value) = error.get(context).and_then(value_of) {
            fields.insert(name.to_owned(), value);
        }
    }
    super::with_message(Value::Object(fields), &message(error))
}

/// Returns the stable name of the error.
fn problem(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => "invalid_value",
        ErrorKind::UnknownArgument => "unknown_argument",
        ErrorKind::InvalidSubcommand => "unknown_command",
        ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            "missing_command"
        }
        ErrorKind::MissingRequiredArgument => "missing_argument",
        ErrorKind::ArgumentConflict => "conflict",
        _ => "arguments",
    }
}

fn value_of(value: &ContextValue) -> Option<Value> {
    match value {
        ContextValue::String(text) => Some(json!(text)),
        ContextValue::Strings(texts) => Some(json!(texts)),
        ContextValue::Number(number) => Some(json!(number)),
        _ => None,
    }
}

fn message(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let first = text.split("\n\n").next().unwrap_or(&text);
    let first = first.strip_prefix("error: ").unwrap_or(first);
    first.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_requested_by_either_option_before_the_end_of_options() {
        for yes in [
            &["run", "--json"][..],
            &["--format", "json"],
            &["--format=json"],
        ] {
            assert!(asks_for_json(yes), "{yes:?}");
        }
        for no in [
            &["run"][..],
            &["--", "--json"],
            &["--format", "dot", "json"],
            &[],
        ] {
            assert!(!asks_for_json(no), "{no:?}");
        }
    }
}
