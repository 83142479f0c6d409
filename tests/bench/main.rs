//! What the benchmark needs beside whole processes: goals of a given size, the costs of
//! a commit and of a projection in process, and the SQLite modes side by side. Called by
//! `cargo xtask bench`; every answer is one JSON object.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod costs;
mod fill;
mod modes;

use std::path::Path;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let answer = match words.as_slice() {
        ["fill", folder, todos, spends] => {
            fill::goal(Path::new(folder), todos.parse().unwrap(), spends.parse().unwrap())
        }
        ["costs", folder] => costs::measure(Path::new(folder)),
        ["spin", folder, what, times] => {
            costs::spin(Path::new(folder), what, times.parse().unwrap())
        }
        ["modes", folder] => modes::compare(Path::new(folder)),
        ["read", file] => modes::read(Path::new(file)),
        _ => {
            panic!(
                "loopx-bench fill FOLDER TODOS SPENDS | costs FOLDER | spin FOLDER decide|write|project|bare TIMES \
                 | modes FOLDER | read FILE"
            )
        }
    };
    println!("{answer}");
}
