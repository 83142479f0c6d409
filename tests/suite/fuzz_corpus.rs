//! Replays the committed inputs of `cargo xtask fuzz`: never a panic.

#![cfg(unix)]

use loopx_tests::fuzz::{Harness, Target};

#[test]
fn no_input_of_the_corpus_panics() {
    for target in Target::ALL {
        let corpus = target.corpus();
        assert!(!corpus.is_empty(), "{} has inputs", target.name());
        for (path, bytes) in &corpus {
            let fed = Harness::new(target).feed(bytes);
            assert_eq!(fed, Ok(()), "{}", path.display());
        }
        println!("{:>4} inputs of {}", corpus.len(), target.name());
    }
}
