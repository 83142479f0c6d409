//! Writes the files that are made from the sources: `loopx-generate ROOT`, run by
//! `cargo xtask generate`.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(root) = std::env::args_os().nth(1).map(PathBuf::from) else {
        eprintln!("loopx-generate ROOT");
        return ExitCode::from(2);
    };
    for (path, content) in loopx_tests::generated::generated() {
        let file = root.join(path);
        if fs::read_to_string(&file).is_ok_and(|old| old == content) {
            continue;
        }
        let written = file
            .parent()
            .map_or(Ok(()), fs::create_dir_all)
            .and_then(|()| fs::write(&file, &content));
        if let Err(error) = written {
            eprintln!("{path}: {error}");
            return ExitCode::FAILURE;
        }
        println!("{path}");
    }
    ExitCode::SUCCESS
}
