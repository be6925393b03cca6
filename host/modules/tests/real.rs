//! Real modules from the npm registry. They are fetched with `npm pack`; where that fails, the test
//! prints why and skips. `SEAWALL_MODULES` names a folder that keeps them from run to run.

use crate::analyses::{check_all, check_dominators};
use crate::registers::check_registers;
use seawall_modules::model::Program;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder with the content of a package, or why there is none.
pub(crate) fn package(name: &str) -> Result<PathBuf, String> {
    let home = std::env::var_os("SEAWALL_MODULES");
    let home = home.map_or_else(
        || Path::new(env!("CARGO_TARGET_TMPDIR")).to_owned(),
        PathBuf::from,
    );
    let folder = home.join(name.replace(['@', '/'], "-"));
    if folder.join("package").is_dir() {
        return Ok(folder.join("package"));
    }
    let said = |error: std::io::Error| error.to_string();
    std::fs::create_dir_all(&folder).map_err(said)?;
    let packed = Command::new("npm")
        .args(["pack", "--silent", name])
        .current_dir(&folder)
        .output()
        .map_err(said)?;
    if !packed.status.success() {
        return Err(String::from_utf8_lossy(&packed.stderr).into_owned());
    }
    let archive = String::from_utf8_lossy(&packed.stdout).trim().to_owned();
    let taken = Command::new("tar")
        .args(["xzf", &archive])
        .current_dir(&folder)
        .status()
        .map_err(said)?;
    let _ = std::fs::remove_file(folder.join(archive));
    if taken.success() {
        Ok(folder.join("package"))
    } else {
        Err("the archive could not be unpacked".to_owned())
    }
}

fn check(name: &str, file: &str) {
    let folder = match package(name) {
        Ok(folder) => folder,
        Err(reason) => {
            eprintln!("skipped: {name} could not be fetched: {reason}");
            return;
        }
    };
    let bytes = std::fs::read(folder.join(file)).unwrap();
    let mut program = Program::default();
    seawall_modules::read(&mut program, file, bytes).unwrap();
    check_dominators(&program);
    check_registers(&program);
    // The plain analyses are slow on purpose: functions of many blocks would take minutes.
    let most = 60;
    for function in &mut program.functions {
        if function.body.blocks.len() > most {
            function.body = Default::default();
        }
    }
    check_all(&program);
}

#[test]
fn an_sql_engine_has_the_facts_of_plain_analyses() {
    check("sql.js", "dist/sql-wasm.wasm");
}

#[test]
fn a_database_has_the_facts_of_plain_analyses() {
    check(
        "@sqlite.org/sqlite-wasm@3.41.2",
        "sqlite-wasm/jswasm/sqlite3.wasm",
    );
}
