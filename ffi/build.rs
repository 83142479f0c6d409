//! Gives the shared library the name that programs ask for when they run, so that it may be
//! installed beside a later one that is no longer compatible.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let system = std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    let major = std::env::var("CARGO_PKG_VERSION_MAJOR").unwrap_or_default();
    match system.as_str() {
        "macos" => println!("cargo:rustc-cdylib-link-arg=-Wl,-install_name,@rpath/libloopx.dylib"),
        "windows" => {}
        _ => println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libloopx.so.{major}"),
    }
}
