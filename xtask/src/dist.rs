//! Lays down the C library as a prefix: `lib`, `include` and the pkg-config file.

use crate::failure::{Failure, Result, While};
use crate::workspace::{Workspace, must_succeed};
use std::fs;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub struct Arguments {
    /// The prefix to write to; `<build folder>/dist` unless said
    #[arg(long)]
    to: Option<PathBuf>,
    /// A folder with built libraries; they are built for release unless this is given
    #[arg(long)]
    built: Option<PathBuf>,
}

/// What a program links beside the static library: what `rustc --print native-static-libs`
/// says of it.
const PRIVATE: &str = if cfg!(target_os = "macos") {
    "-lSystem -lc -lm"
} else {
    "-lgcc_s -lutil -lrt -lpthread -lm -ldl -lc"
};

pub fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let built = match &arguments.built {
        Some(folder) => folder.clone(),
        None => {
            let words = ["build", "--release", "--locked", "-p", "loopx-ffi"];
            must_succeed(&mut workspace.cargo(words))?;
            workspace.target.join("release")
        }
    };
    let to = arguments.to.clone().unwrap_or_else(|| workspace.target.join("dist"));
    for path in lay_down(&workspace.root, &built, &to)? {
        println!("{}", path.display());
    }
    // Whoever installs into a prefix of their own has to say it to three programs.
    let to = fs::canonicalize(&to).while_doing(|| format!("looking for {}", to.display()))?;
    let (lib, quoted) = (to.join("lib"), |path: &Path| format!("'{}'", path.display()));
    eprintln!(
        "compile with: PKG_CONFIG_PATH={} sh -c 'eval cc ask.c $(pkg-config --cflags --libs loopx) -o ask'\n\
         run with:     LD_LIBRARY_PATH={} ./ask",
        quoted(&lib.join("pkgconfig")),
        quoted(&lib),
    );
    Ok(())
}

fn lay_down(root: &Path, built: &Path, to: &Path) -> Result<Vec<PathBuf>> {
    let version = env!("CARGO_PKG_VERSION");
    let ffi = root.join("ffi");
    let mut written = Vec::new();
    let folder = |name: &str| {
        let path = to.join(name);
        fs::create_dir_all(&path).while_doing(|| format!("making {}", path.display()))?;
        Ok::<_, Failure>(path)
    };
    let lib = folder("lib")?;
    let mut copy = |from: PathBuf, path: PathBuf| {
        fs::copy(&from, &path).while_doing(|| format!("copying {}", from.display()))?;
        written.push(path);
        Ok::<_, Failure>(())
    };
    copy(ffi.join("include/loopx.h"), folder("include")?.join("loopx.h"))?;
    for name in ["libloopx.a", "libloopx.dylib", "loopx.lib", "loopx.dll", "loopx.dll.lib"] {
        if built.join(name).is_file() {
            copy(built.join(name), lib.join(name))?;
        }
    }
    let shared = built.join("libloopx.so");
    if shared.is_file() {
        // The file has the whole version, programs ask for the first number, linkers for none.
        let file = format!("libloopx.so.{version}");
        let major = format!("libloopx.so.{}", env!("CARGO_PKG_VERSION_MAJOR"));
        copy(shared, lib.join(&file))?;
        for link in [major.as_str(), "libloopx.so"] {
            written.push(link_to(&file, lib.join(link))?);
        }
    }
    if written.len() < 2 {
        return Err(Failure::new(format!("there is no library in {}", built.display())));
    }
    let template = ffi.join("loopx.pc.in");
    let text = fs::read_to_string(&template)
        .while_doing(|| format!("reading {}", template.display()))?
        .replace("@VERSION@", version)
        .replace("@PRIVATE@", PRIVATE);
    let file = folder("lib/pkgconfig")?.join("loopx.pc");
    fs::write(&file, text).while_doing(|| format!("writing {}", file.display()))?;
    written.push(file);
    Ok(written)
}

#[cfg(unix)]
fn link_to(file: &str, link: PathBuf) -> Result<PathBuf> {
    let doing = || format!("linking {}", link.display());
    if link.symlink_metadata().is_ok() {
        fs::remove_file(&link).while_doing(doing)?;
    }
    std::os::unix::fs::symlink(file, &link).while_doing(doing)?;
    Ok(link)
}

#[cfg(not(unix))]
fn link_to(file: &str, link: PathBuf) -> Result<PathBuf> {
    Err(Failure::new(format!("{file}: there are no links for {} here", link.display())))
}
