//! Link arguments that a Node addon needs on some systems.

fn main() {
    napi_build::setup();
}
