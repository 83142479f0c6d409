//! The header of the C library, by cbindgen.

use crate::repository;

/// `ffi/include/loopx.h`.
pub fn text() -> String {
    let ffi = repository().join("ffi");
    let config = cbindgen::Config::from_file(ffi.join("cbindgen.toml"));
    let config = config.expect("ffi/cbindgen.toml is a configuration of cbindgen");
    let builder = cbindgen::Builder::new().with_config(config);
    let bindings = builder.with_src(ffi.join("src/lib.rs")).generate();
    let mut text = Vec::new();
    bindings.expect("ffi/src/lib.rs is read").write(&mut text);
    String::from_utf8(text).expect("a header is text")
}
