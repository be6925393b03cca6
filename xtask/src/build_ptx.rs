//! `cargo xtask build-ptx`: device kernels to `host/ptx/seawall.ptx.packed`.
//!
//! The packed file is committed, so that the host crate builds with stable Rust only; the texts in
//! it are written to `target/ptx` as well, to be read. Each text begins with the hash of its
//! sources and the versions of its toolchain. `--check` always compares hashes, and the code itself
//! if this machine's toolchain is the one that the text names; another compiler writes other code
//! from the same sources, which does not make the file stale.
//!
//! `--sources` compares the hashes alone, in no time.
//!
//! `--crate PATH` compiles a crate with custom waves instead, to `PATH/ptx/NAME.sm_*.ptx`: its
//! kernels have its waves and every built-in one.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use clap::Args;

use crate::error::Error;
use crate::process;
use crate::ptx::audit::Audit;
use crate::ptx::own::OwnCrate;
use crate::ptx::packed::{self, SOURCES, field};
use crate::ptx::targets::{BOUNDS, OWN_BOUNDS, TARGETS, Target};
use crate::ptx::toolchain::{Route, Toolchain};
use crate::ptx::{entries, link, sources, symbols};
use crate::workspace;

const TRIPLE: &str = "nvptx64-nvidia-cuda";
const TOOLCHAIN: &str = "// toolchain: ";
const REMEDY: &str = "run `cargo xtask build-ptx` and commit host/ptx";

/// Options of `build-ptx`.
#[derive(Args)]
pub(crate) struct Options {
    /// Rebuild, compare with the committed files, write nothing.
    #[arg(long)]
    check: bool,
    /// Compare only the hash of the sources with the committed files', which takes no compiler.
    #[arg(long, conflicts_with = "check")]
    sources: bool,
    /// The compiler to use.
    #[arg(long, value_enum, default_value_t = Route::Auto)]
    toolchain: Route,
    /// Build the crate in this folder, which has waves of its own, into its folder `ptx`.
    #[arg(long = "crate", value_name = "PATH", conflicts_with_all = ["check", "sources"])]
    own: Option<PathBuf>,
}

/// A build: the compiler, the sources of the kernels, and the crate with custom waves, if it is for
/// one.
struct Build<'a> {
    toolchain: &'a Toolchain,
    sources: &'a str,
    own: Option<&'a OwnCrate>,
}

pub(crate) fn run(options: &Options) -> Result<(), Error> {
    let sources = sources::hash()?;
    if options.sources {
        return check_sources(&sources);
    }
    let toolchain = Toolchain::find(options.toolchain)?;
    println!("sources: {sources}");
    let own = options.own.as_deref().map(OwnCrate::find).transpose()?;
    let build = Build {
        toolchain: &toolchain,
        sources: &sources,
        own: own.as_ref(),
    };
    if let Some(own) = &own {
        return build.write_own(own);
    }
    if options.check {
        return build.check();
    }
    let mut texts = Vec::new();
    for target in TARGETS {
        let text = build.target(target)?;
        let path = target.text_path();
        workspace::write(&path, &text)?;
        println!("wrote {} ({} bytes)", path.display(), text.len());
        texts.push(text);
    }
    let bytes = packed::write(&texts)?;
    println!("wrote {} ({bytes} bytes)", packed::FILE);
    Ok(())
}

/// Checks that the committed texts name this hash of the sources.
fn check_sources(sources: &str) -> Result<(), Error> {
    let committed = packed::sources()?;
    if committed == sources {
        println!("sources: {sources}");
        return Ok(());
    }
    Err(Error::Stale {
        what: "host/ptx is",
        files: vec![format!(
            "built from {committed}, and the sources are {sources}"
        )],
        remedy: REMEDY,
    })
}

impl Build<'_> {
    fn write_own(&self, own: &OwnCrate) -> Result<(), Error> {
        for target in TARGETS {
            let text = self.target(target)?;
            let path = own.output(target);
            workspace::write(&path, &text)?;
            println!("wrote {} ({} bytes)", path.display(), text.len());
        }
        Ok(())
    }

    /// Builds every text and compares it with the committed one.
    fn check(&self) -> Result<(), Error> {
        let mut stale = Vec::new();
        for (target, committed) in packed::texts()? {
            let built = self.target(target)?;
            stale.extend(self.difference(target, &committed, &built));
        }
        if stale.is_empty() {
            return Ok(());
        }
        Err(Error::Stale {
            what: "host/ptx is",
            files: stale,
            remedy: REMEDY,
        })
    }

    fn target(&self, target: &Target) -> Result<String, Error> {
        let bounds = self.own.map_or(BOUNDS, |_| OWN_BOUNDS);
        let ptx = entries::with_bounds(&self.compile(target)?, bounds)?;
        let text = format!("{}{ptx}", self.header(target));
        let mut audit = Audit::of(&text);
        if self.own.is_some() {
            // These settings concern the kernels, not the waves of the crate.
            audit.warnings.clear();
        }
        report(target, &text, &audit)?;
        Ok(text)
    }

    fn header(&self, target: &Target) -> String {
        let waves = match self.own {
            Some(own) => format!(" with the waves of {}", own.package),
            None => String::new(),
        };
        format!(
            "// Seawall device kernels{waves} for {}, written by `cargo xtask build-ptx`; do not edit.\n\
             {SOURCES}{}\n{TOOLCHAIN}{}\n",
            target.cpu(),
            self.sources,
            self.toolchain.versions()
        )
    }

    fn compile(&self, target: &Target) -> Result<String, Error> {
        let folder = workspace::target("ptx");
        let name = self
            .own
            .map_or("seawall_device", |own| own.library.as_str());
        let output = folder.join(format!("{TRIPLE}/release/deps/{name}.ptx"));
        // Removed, so that Cargo cannot use another machine's file.
        let _ = fs::remove_file(&output);
        let mut cargo = self.toolchain.cargo();
        cargo
            .args(["rustc", "--quiet", "--release", "-Zbuild-std=core", "--lib"])
            .args(["--target", TRIPLE, "--crate-type", "cdylib", "--target-dir"])
            .arg(&folder)
            .envs(settings());
        self.choose_crate(&mut cargo, target);
        cargo.env("CARGO_TARGET_NVPTX64_NVIDIA_CUDA_LINKER", this_program()?);
        link::hand_over(&mut cargo, &self.toolchain.tools, target);
        process::show(&mut cargo)?;
        Ok(symbols::without_hashes(&workspace::read(&output)?))
    }

    /// Adds the options that name the crate, and the flags that its compilation needs.
    fn choose_crate(&self, cargo: &mut Command, target: &Target) {
        // Flags of single crates, so that all builds share `core`.
        let machine = format!("seawall_sm=\"{}\"", target.capability);
        match self.own {
            None => {
                cargo.args(["--package", "seawall-device", "--"]);
                cargo.args(["--cfg", "seawall_kernels", "--cfg", &machine]);
            }
            Some(own) => {
                let of_device = "profile.release.package.seawall-device.rustflags";
                cargo.args(["-Zprofile-rustflags", "--config"]);
                cargo.arg(format!("{of_device}=['--cfg', '{machine}']"));
                cargo.arg("--manifest-path").arg(&own.manifest);
                // Kernels have a calling convention that is not stable.
                cargo.args(["--", "-Zcrate-attr=feature(abi_ptx)", "--cfg", &machine]);
            }
        }
    }

    /// Returns a line that says how the committed text differs, if it does.
    fn difference(&self, target: &Target, committed: &str, built: &str) -> Option<String> {
        let name = target.cpu();
        if field(committed, SOURCES) != Some(self.sources) {
            return Some(format!("{name}: built from other sources"));
        }
        let versions = field(committed, TOOLCHAIN).unwrap_or_default();
        if versions != self.toolchain.versions() {
            println!("{name}: sources match; code not compared, since it is of {versions}");
            return None;
        }
        if committed == built {
            println!("{name}: fresh");
            return None;
        }
        let mut lines = committed.lines().zip(built.lines());
        let line = lines.position(|(a, b)| a != b).map_or(0, |index| index + 1);
        Some(format!("{name}: code differs from line {line} on"))
    }
}

/// The profile, set here so that the workspace's profile may change freely.
///
/// `immediate-abort` turns each panic site into a trap, so neither messages nor
/// formatting reach the device; fat LTO and one unit let everything inline.
fn settings() -> [(&'static str, &'static str); 6] {
    [
        ("CARGO_PROFILE_RELEASE_DEBUG", "false"),
        ("CARGO_PROFILE_RELEASE_LTO", "fat"),
        ("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "1"),
        ("CARGO_PROFILE_RELEASE_OPT_LEVEL", "3"),
        ("CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS", "false"),
        ("CARGO_ENCODED_RUSTFLAGS", RUSTFLAGS),
    ]
}

/// rustc's JumpThreading does not know operations of all lanes and copies them into both branches
/// of a condition: lanes of a warp then reach different copies of a block barrier, and hang.
const RUSTFLAGS: &str = "-Ctarget-cpu=sm_70\x1f-Cpanic=immediate-abort\x1f-Zunstable-options\x1f-Zmir-enable-passes=-JumpThreading";

fn this_program() -> Result<PathBuf, Error> {
    std::env::current_exe().map_err(Error::file("locating", "xtask"))
}

/// Prints the findings of an audit of `text`, which is kept if it cannot be used.
fn report(target: &Target, text: &str, audit: &Audit) -> Result<(), Error> {
    for warning in &audit.warnings {
        println!("warning: {}: {warning}", target.cpu());
    }
    if audit.errors.is_empty() {
        return Ok(());
    }
    let path = workspace::target("refused").join(format!("seawall.{}.ptx", target.cpu()));
    workspace::write(&path, text)?;
    let finding = |error| format!("{}: {error}", path.display());
    Err(Error::Refused {
        what: "the generated PTX cannot be used",
        findings: audit.errors.iter().map(finding).collect(),
        remedy: "define the function in device code, or remove what calls it; if all lanes of a \
                 block take the branch alike, list it in xtask/src/ptx/barriers.rs",
    })
}
