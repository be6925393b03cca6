//! Finding a compiler that can build `core` for `nvptx64`.
//!
//! Two routes, in this order: a rustup nightly with `rust-src` and `llvm-tools`,
//! and a compiler whose own library source is installed, as Debian packages it,
//! beside LLVM of the same major version. A compiler can only build the library
//! source of its own version, so source and compiler are looked up together.

use std::path::{Path, PathBuf};
use std::process::Command;

use clap::ValueEnum;

use crate::error::Error;
use crate::process;

/// Routes that may be tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Route {
    /// rustup's nightly first, then the system's compiler.
    Auto,
    /// A rustup nightly with rust-src and llvm-tools.
    Rustup,
    /// The system's rustc with its library source, and LLVM of the same version.
    System,
}

/// A compiler with everything that PTX needs.
pub(crate) struct Toolchain {
    rustc: PathBuf,
    release: String,
    llvm: String,
    route: String,
    pub(crate) tools: LlvmTools,
}

/// The three LLVM programs of the linker role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LlvmTools {
    pub(crate) link: PathBuf,
    pub(crate) opt: PathBuf,
    pub(crate) llc: PathBuf,
}

impl LlvmTools {
    /// Looks for the tools as `folder/NAMEsuffix`.
    fn find(folder: &Path, suffix: &str) -> Option<Self> {
        let program = |name: &str| {
            let path = folder.join(format!("{name}{suffix}{}", std::env::consts::EXE_SUFFIX));
            path.is_file().then_some(path)
        };
        Some(Self {
            link: program("llvm-link")?,
            opt: program("opt")?,
            llc: program("llc")?,
        })
    }

    pub(crate) fn to_variable(&self) -> String {
        [&self.link, &self.opt, &self.llc]
            .map(|path| path.display().to_string())
            .join("\n")
    }

    /// Inverse of [`Self::to_variable`].
    pub(crate) fn from_variable(text: &str) -> Option<Self> {
        let mut paths = text.lines().map(PathBuf::from);
        Some(Self {
            link: paths.next()?,
            opt: paths.next()?,
            llc: paths.next()?,
        })
    }
}

impl Toolchain {
    /// Prints and returns the first toolchain that `route` allows and this machine has.
    pub(crate) fn find(route: Route) -> Result<Self, Error> {
        let found = Self::first(route)?;
        println!("toolchain: {} ({})", found.route, found.versions());
        Ok(found)
    }

    fn first(route: Route) -> Result<Self, Error> {
        let mut reasons = Vec::new();
        if route != Route::System {
            match rustup_nightly() {
                Ok(found) => return Ok(found),
                Err(reason) => reasons.push(format!("rustup: {reason}")),
            }
        }
        if route != Route::Rustup {
            match system() {
                Ok(found) => return Ok(found),
                Err(reason) => reasons.push(format!("system: {reason}")),
            }
        }
        Err(Error::NoToolchain { reasons })
    }

    /// Versions, as the committed files record them: no paths, no host.
    pub(crate) fn versions(&self) -> String {
        format!("rustc {}, LLVM {}", self.release, self.llvm)
    }

    /// A `cargo` that compiles with this toolchain, unstable flags allowed.
    pub(crate) fn cargo(&self) -> Command {
        let mut command = process::cargo();
        command
            .env("RUSTC", &self.rustc)
            .env("RUSTDOC", self.rustc.with_file_name("rustdoc"))
            .env("RUSTC_BOOTSTRAP", "1")
            .env_remove("RUSTC_WRAPPER")
            .env_remove("RUSTC_WORKSPACE_WRAPPER")
            .env_remove("RUSTFLAGS")
            // Cargo points this at its own toolchain's libraries; another rustc must not see them.
            .env_remove("LD_LIBRARY_PATH");
        command
    }
}

fn rustup_nightly() -> Result<Toolchain, String> {
    let listing = process::capture(Command::new("rustup").args(["toolchain", "list"]))
        .map_err(|_| "rustup is not installed".to_owned())?;
    let mut reason = "no nightly toolchain is installed".to_owned();
    let names = listing.lines().filter_map(|line| line.split(' ').next());
    for name in names.filter(|name| name.starts_with("nightly")) {
        match nightly(name) {
            Ok(found) => return Ok(found),
            Err(missing) => reason = format!("{name} has no {missing}"),
        }
    }
    Err(reason)
}

fn nightly(name: &str) -> Result<Toolchain, String> {
    let sysroot =
        process::capture(Command::new("rustup").args(["run", name, "rustc", "--print", "sysroot"]))
            .map_err(|_| "working rustc".to_owned())?;
    let sysroot = Path::new(sysroot.trim());
    let rustc = sysroot
        .join("bin")
        .join(format!("rustc{}", std::env::consts::EXE_SUFFIX));
    let facts = Facts::of(&rustc).map_err(|error| format!("usable rustc: {error}"))?;
    if !facts.has_library_source() {
        return Err("rust-src".to_owned());
    }
    let folder = sysroot.join("lib/rustlib").join(&facts.host).join("bin");
    let tools = LlvmTools::find(&folder, "").ok_or("llvm-tools")?;
    Ok(facts.into_toolchain(format!("rustup {name}"), rustc, tools))
}

fn system() -> Result<Toolchain, String> {
    let rustc = std::env::var_os("SEAWALL_RUSTC")
        .map_or_else(|| PathBuf::from("/usr/bin/rustc"), PathBuf::from);
    if !rustc.is_file() {
        return Err(format!(
            "no {} (SEAWALL_RUSTC names another)",
            rustc.display()
        ));
    }
    let facts = Facts::of(&rustc).map_err(|error| error.to_string())?;
    if !facts.has_library_source() {
        return Err(format!("{} has no library source", rustc.display()));
    }
    let tools = system_llvm(facts.llvm_major())
        .ok_or_else(|| format!("no llvm-link, opt and llc of LLVM {}", facts.llvm_major()))?;
    Ok(facts.into_toolchain(rustc.display().to_string(), rustc, tools))
}

fn system_llvm(major: &str) -> Option<LlvmTools> {
    LlvmTools::find(Path::new("/usr/bin"), &format!("-{major}"))
        .or_else(|| LlvmTools::find(&Path::new("/usr/lib").join(format!("llvm-{major}/bin")), ""))
}

/// The version of a rustc, as it reports it.
struct Facts {
    release: String,
    llvm: String,
    host: String,
    sysroot: PathBuf,
}

impl Facts {
    fn of(rustc: &Path) -> Result<Self, Error> {
        let verbose = process::capture(Command::new(rustc).arg("-vV"))?;
        let sysroot = process::capture(Command::new(rustc).args(["--print", "sysroot"]))?;
        let field = |name: &str| {
            let value = verbose.lines().find_map(|line| line.strip_prefix(name));
            value.map(|value| value.trim().to_owned()).ok_or_else(|| {
                Error::output(
                    format!("{} -vV", rustc.display()),
                    format!("no line `{name}`"),
                )
            })
        };
        Ok(Self {
            release: format!("{} {}", field("release:")?, field("commit-hash:")?),
            llvm: field("LLVM version:")?,
            host: field("host:")?,
            sysroot: sysroot.trim().into(),
        })
    }

    fn has_library_source(&self) -> bool {
        let library = self.sysroot.join("lib/rustlib/src/rust/library");
        library.join("core/src/lib.rs").is_file()
    }

    fn llvm_major(&self) -> &str {
        self.llvm.split('.').next().unwrap_or_default()
    }

    fn into_toolchain(self, route: String, rustc: PathBuf, tools: LlvmTools) -> Toolchain {
        Toolchain {
            rustc,
            release: self.release,
            llvm: self.llvm,
            route,
            tools,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_survive_the_environment() {
        let tools = LlvmTools {
            link: "/a b/llvm-link".into(),
            opt: "/a b/opt".into(),
            llc: "/c/llc".into(),
        };
        assert_eq!(LlvmTools::from_variable(&tools.to_variable()), Some(tools));
        assert_eq!(LlvmTools::from_variable("only\ntwo"), None);
    }

    #[test]
    fn a_missing_toolchain_says_what_to_install() {
        let reasons = vec!["rustup: no nightly toolchain is installed".to_owned()];
        let text = Error::NoToolchain { reasons }.to_string();
        assert!(
            text.contains("--component rust-src --component llvm-tools"),
            "{text}"
        );
        assert!(
            text.contains("apt-get install rustc-web rust-web-src llvm-22"),
            "{text}"
        );
    }
}
