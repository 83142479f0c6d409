//! The C library as C, C++ and Python programs have it: its examples, compiled without a
//! warning and run clean; what it exports; what `cargo xtask dist` lays down; random bytes.
//! `FIELD_REPORTS.md` maps the rows.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at what it does not expect, and says where"
)]

use loopx_core::kernel::{Clock, Kernel, KernelOptions};
use loopx_core::model::Instant;
use loopx_core::operation::Operation;
use loopx_core::registry::RouteInput;
use loopx_tests::clib::{Linked, built, cargo, finished, good, is_there};
use loopx_tests::vectors::{Asked, Door as _, Library, Said};
use loopx_tests::{Sandbox, repository, skip};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::env;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant as Stopwatch};

const NOW: &str = "2026-11-29T12:00:00Z";
const SANITIZED: [&str; 3] = ["-fsanitize=address", "-fno-omit-frame-pointer", "-g"];
const WORKERS: usize = 8;

fn source(name: &str) -> PathBuf {
    repository().join("ffi/examples").join(name)
}

/// A project with the goal `g`, an agent per worker and `ada`, a todo for each worker; and the
/// library as the linker and the loader look for it.
struct World {
    sandbox: Sandbox,
    linked: Linked,
    kernel: Kernel,
}

impl World {
    fn new() -> Self {
        let sandbox = Sandbox::new();
        let mut options = KernelOptions::new(RouteInput {
            flag: Some(sandbox.registry()),
            runtime_root_flag: Some(sandbox.runtime_root()),
            cwd: sandbox.project(),
            home: Some(sandbox.home()),
            ..RouteInput::default()
        });
        options.clock = Clock::Fixed(Instant::parse(NOW).unwrap());
        let kernel = Kernel::open(options).unwrap();
        let mut agents: Vec<String> = (0..WORKERS).map(|n| format!("w{n}")).collect();
        agents.push("ada".into());
        let create =
            json!({"goal_id": "g", "objective": "o", "agents": agents, "allowed_slots": 20});
        kernel.call("goal.create", &create).unwrap();
        for n in 0..WORKERS {
            let add = json!({"role": "agent", "text": format!("[P1] Part {n}")});
            kernel.call("todo.add", &add).unwrap();
        }
        let linked = Linked::below(sandbox.base());
        Self { sandbox, linked, kernel }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.sandbox.base().join(name)
    }

    /// Compiles a source; the program's path.
    #[track_caller]
    fn compiled(&self, compiler: &str, source: &Path, more: &[&str]) -> PathBuf {
        self.linked.compiled(compiler, source, more)
    }

    /// A program in the project's folder, with the library and nothing of the tests'
    /// environment beside `PATH`.
    fn command<W: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = W>) -> Command {
        let mut words = words.into_iter();
        let mut command = Command::new(words.next().unwrap());
        command.args(words).current_dir(self.sandbox.project()).env_clear();
        command.env("PATH", env::var_os("PATH").unwrap_or_default());
        command.env("HOME", self.sandbox.home()).env("LOOPX_NOW", NOW);
        command.env("LOOPX_RUNTIME_ROOT", self.sandbox.runtime_root());
        command.env("LD_LIBRARY_PATH", self.linked.lib());
        command
    }

    /// What workers are to have left: every todo done, by one delivery and one slot each.
    #[track_caller]
    fn delivered(&self) {
        let listed = self.kernel.call("todo.list", &json!({"status": "done"})).unwrap();
        assert_eq!(listed["todos"].as_array().unwrap().len(), WORKERS, "{listed}");
        let log = self.kernel.call("history", &json!({"limit": 100})).unwrap();
        let of = |name: &str| log.to_string().matches(&format!("{name:?}")).count();
        assert_eq!((of("turn.admit"), of("turn.settle")), (WORKERS, WORKERS), "{log}");
        let status = self.kernel.call("quota.status", &json!({})).unwrap();
        assert_eq!(status["goals"][0]["spent_slots"], WORKERS, "{status}");
    }
}

/// Runs every example behind `wrapper` and looks at what it says and leaves.
#[track_caller]
fn examples_work(compilers: (&str, &str), more: &[&str], wrapper: &[&str]) {
    let run = |world: &World, program: &Path, words: &[&str]| {
        let line = wrapper.iter().map(OsStr::new).chain([program.as_os_str()]);
        let mut command = world.command(line.chain(words.iter().map(OsStr::new)));
        // A forked child keeps what it inherited for good, and a hash table is kept by a pointer
        // into its middle, which is what valgrind calls possibly lost.
        let kinds = if words == ["processes", "8"] { "" } else { ",possible" };
        let kinds = format!("definite,indirect{kinds}");
        let leaks = format!("--errors-for-leak-kinds={kinds} --show-leak-kinds={kinds}");
        finished(command.env("VALGRIND_OPTS", leaks))
    };
    let (c, cpp) = compilers;
    let world = World::new();
    for (compiler, name) in [(c, "decide.c"), (cpp, "decide.cpp")] {
        let decide = world.compiled(compiler, &source(name), more);
        let output = run(&world, &decide, &["ada"]);
        assert_eq!((output.code, output.stderr.as_str()), (0, ""), "{name}: {output}");
        assert_eq!(output.json()["should_run"], true);
        // Nobody of that name is in the roster, which is an answer.
        let output = run(&world, &decide, &["eve"]);
        assert_eq!(output.code, 3, "{name}: {output}");
        assert_eq!(output.json()["should_run"], false);
    }
    let turn = world.compiled(c, &source("turn.c"), more);
    let twice = [(); 2].map(|()| {
        let output = run(&world, &turn, &["ada", "ada-1"]);
        assert_eq!((output.code, output.stderr.as_str()), (0, ""), "{output}");
        let answers = output.stdout.lines().map(|line| serde_json::from_str(line).unwrap());
        answers.collect::<Vec<Value>>()
    });
    let [[admitted, settled], [admitted_again, settled_again]] =
        twice.map(|answers| <[Value; 2]>::try_from(answers).unwrap());
    assert_eq!(admitted["selected_todo"], admitted_again["selected_todo"]);
    assert_eq!(admitted_again["heartbeat_receipt"]["status"], "replayed");
    assert_eq!((&settled["spent_slots"], &settled["idempotent_replay"]), (&1.into(), &Value::Null));
    assert_eq!(settled_again["idempotent_replay"], true);
    assert_eq!(settled["commit"], settled_again["commit"]);
    // An agent that there is not is refused.
    let refused = run(&world, &turn, &["eve", "eve-1"]);
    assert_eq!(refused.code, 1, "{refused}");
    let said: Value = serde_json::from_str(refused.stdout.lines().last().unwrap()).unwrap();
    assert_eq!((&said["class"], &said["status"]), (&"identity".into(), &2.into()), "{said}");

    for kind in ["threads", "processes"] {
        let world = World::new();
        let workers = world.compiled(c, &source("workers.c"), more);
        let output = run(&world, &workers, &[kind, "8"]);
        let said = (output.code, output.stdout.as_str(), output.stderr.as_str());
        assert_eq!(said, (0, "8 of 8 delivered\n", ""), "{kind}: {output}");
        world.delivered();
    }
}

/// Whether an example that does not free its answer is found out.
fn sees_a_leak(more: &[&str], wrapper: &[&str]) -> bool {
    let world = World::new();
    let text = fs::read_to_string(source("decide.c")).unwrap();
    let leaking = world.path("leaking.c");
    fs::write(&leaking, text.replace("    loopx_free(answer);\n", "")).unwrap();
    let leaking = world.compiled("gcc", &leaking, more);
    let line = wrapper.iter().map(OsStr::new).chain([leaking.as_os_str(), OsStr::new("ada")]);
    finished(&mut world.command(line)).code != 0
}

#[test]
fn the_examples_compile_without_a_warning_and_work() {
    for compilers in [("gcc", "g++"), ("clang", "clang++")] {
        if is_there(compilers.0) && is_there(compilers.1) {
            examples_work(compilers, &[], &[]);
        } else {
            skip(&format!("the C examples with {}", compilers.0), "it is not on this machine");
        }
    }
}

#[test]
fn the_examples_are_clean_under_valgrind() {
    if !is_there("valgrind") || !is_there("gcc") {
        return skip("the C examples under valgrind", "valgrind or gcc is not on this machine");
    }
    let valgrind = [
        "valgrind",
        "--quiet",
        "--error-exitcode=99",
        "--leak-check=full",
        "--read-inline-info=no",
    ];
    assert!(sees_a_leak(&["-g"], &valgrind));
    examples_work(("gcc", "g++"), &["-g"], &valgrind);
}

#[test]
fn the_examples_are_clean_under_address_sanitizer() {
    if let Some(why) = no_sanitizer() {
        return skip("the C examples under gcc's AddressSanitizer", &why);
    }
    assert!(sees_a_leak(&SANITIZED, &[]));
    examples_work(("gcc", "g++"), &SANITIZED, &[]);
}

/// Why gcc's AddressSanitizer cannot be had here.
fn no_sanitizer() -> Option<String> {
    if !is_there("gcc") || !is_there("g++") {
        return Some("gcc is not on this machine".into());
    }
    let world = World::new();
    let empty = world.path("empty.c");
    fs::write(&empty, "int main(void) { return 0; }\n").unwrap();
    let program = world.path("empty");
    let mut compile = Command::new("gcc");
    let compiled = finished(compile.args(SANITIZED).arg(empty).arg("-o").arg(&program));
    if compiled.code != 0 {
        return Some(format!("it does not link: {}", compiled.stderr.trim()));
    }
    let ran = finished(&mut world.command([program]));
    (ran.code != 0).then(|| format!("it does not run here: {}", ran.stderr.trim()))
}

/// A lock that another process holds is `LOOPX_STATUS_BUSY` when the deadline is over, changes
/// nothing, and the handle goes on. The C program of the vectors asks; this process holds.
#[test]
fn a_held_lock_is_busy_after_the_deadline_and_the_handle_goes_on() {
    if !is_there("gcc") {
        return skip("a held lock through C", "gcc is not on this machine");
    }
    const DEADLINE: Duration = Duration::from_millis(300);
    // LOOPX_STATUS_BUSY, as loopx.h has it.
    const BUSY: i32 = 4;
    let world = World::new();
    let door = world.compiled("gcc", &repository().join("tests/c/door.c"), &[]);
    let mut library = Library::start(&door, &world.linked.lib());
    let open = json!({
        "cwd": world.sandbox.project(), "home": world.sandbox.home(), "now": NOW,
        "registry": world.sandbox.registry(), "runtime_root": world.sandbox.runtime_root(),
        "deadline_ms": DEADLINE.as_millis(),
    });
    let open = open.as_object().unwrap();
    let mut asked = |operation: &str, request: &Value| {
        let begun = Stopwatch::now();
        (library.call(&Asked { open, operation, request }), begun.elapsed())
    };
    let add = json!({"goal_id": "g", "role": "agent", "text": "[P3] Late", "effect_id": "late"});
    let list = json!({"goal_id": "g"});
    let count = |said: Said| match said {
        Said::Answer(answer) => answer["todos"].as_array().unwrap().len(),
        Said::Refusal(refusal) => panic!("{refusal}"),
    };
    let before = count(asked("todo.list", &list).0);
    let mut is_busy = |operation: &str, request: &Value, code: &str| {
        let (said, took) = asked(operation, request);
        let Said::Refusal(refusal) = said else { panic!("{operation}: {said:?}") };
        assert_eq!(refusal["status"], BUSY, "{refusal}");
        assert_eq!(refusal["class"], "busy", "{refusal}");
        assert_eq!(refusal["error_code"], code, "{refusal}");
        assert_eq!(refusal["retry"], "later", "{refusal}");
        assert!(took >= DEADLINE && took < DEADLINE + Duration::from_secs(10), "{took:?}");
    };

    let store = world.sandbox.store_folder("g").join("goal.db");
    let queue = File::options().read(true).write(true).open(store.with_extension("db.lock"));
    let queue = queue.unwrap();
    queue.lock().unwrap();
    is_busy("todo.add", &add, "lock_acquire_timeout");
    drop(queue);

    let holder = Connection::open(&store).unwrap();
    holder.execute_batch("BEGIN EXCLUSIVE").unwrap();
    is_busy("todo.add", &add, "store_busy");
    is_busy("todo.list", &list, "store_busy");
    holder.execute_batch("ROLLBACK").unwrap();
    drop(holder);

    // Neither attempt left anything, not even its effect id.
    assert_eq!(count(asked("todo.list", &list).0), before);
    let (said, _) = asked("todo.add", &add);
    let Said::Answer(added) = said else { panic!("{said:?}") };
    assert_eq!(added.get("idempotent_replay"), None, "{added}");
    assert_eq!(count(asked("todo.list", &list).0), before + 1);
    assert!(library.end(), "it ended badly");
}

/// `LOOPX_C_FUZZ_CALLS` makes it longer.
#[test]
fn random_bytes_never_crash_a_call() {
    if !is_there("gcc") {
        return skip("random bytes through C", "gcc is not on this machine");
    }
    let calls = env::var("LOOPX_C_FUZZ_CALLS").unwrap_or_else(|_| "1500".into());
    let sanitized = no_sanitizer().is_none();
    let world = World::new();
    let fuzz = repository().join("tests/c/fuzz.c");
    let fuzz = world.compiled("gcc", &fuzz, if sanitized { &SANITIZED } else { &[] });
    let options = json!({
        "registry": world.sandbox.registry(), "runtime_root": world.sandbox.runtime_root(),
        "home": world.sandbox.home(), "deadline_ms": 500,
    });
    for seed in ["1", "2", "3"] {
        let mut words = vec![fuzz.to_str().unwrap().to_owned(), seed.into(), calls.clone()];
        words.push(options.to_string());
        words.extend(Operation::TABLE.iter().map(|(_, name, ..)| (*name).to_owned()));
        let output = good(&mut world.command(words));
        assert_eq!(output.stdout, "");
        eprintln!("seed {seed}, by status: {}", output.stderr.trim());
        let counted: Vec<u32> = output
            .stderr
            .split_once(':')
            .unwrap()
            .1
            .split_whitespace()
            .map(|n| n.parse().unwrap())
            .collect();
        // It came further than the parser: there are answers, and refusals of the rules.
        assert!(counted[0] > 20 && counted[1] > 20 && counted[2] + counted[3] > 0, "{counted:?}");
        assert_eq!(counted[7], 0);
    }
    world.kernel.call("store.check", &json!({"goal_id": "g"})).unwrap();
}

/// Row 128 for C: what cannot be loaded says what was tried.
#[test]
fn python_has_the_kernel_through_ctypes() {
    if !is_there("python3") {
        return skip("the ctypes example", "python3 is not on this machine");
    }
    let world = World::new();
    let script = source("loopx_ctypes.py");
    let of = |agent: &str| {
        let mut command =
            world.command([OsStr::new("python3"), script.as_os_str(), agent.as_ref()]);
        command.env("PYTHONDONTWRITEBYTECODE", "1");
        command
    };
    let output = good(&mut of("ada"));
    assert_eq!((&output.json()["should_run"], output.stderr.as_str()), (&true.into(), ""));
    assert_eq!(finished(&mut of("eve")).code, 3);
    let output = finished(of("ada").env("LOOPX_NOW", "noon"));
    assert_eq!((output.code, output.stdout.as_str()), (1, ""), "{output}");
    assert!(output.stderr.contains("(request_invalid); write it like"), "{output}");
    let missing = world.path("missing.so");
    let output = finished(of("ada").env("LD_LIBRARY_PATH", "").env("LOOPX_LIBRARY", &missing));
    assert_eq!((output.code, output.stdout.as_str()), (1, ""), "{output}");
    for said in [missing.to_str().unwrap(), "libloopx.so", "linux", "set LOOPX_LIBRARY"] {
        assert!(output.stderr.contains(said), "{said}: {output}");
    }
}

/// Rows 127 and 131 for C: the library needs the C library's own files alone, offers what the
/// header declares alone, and has the name that programs are linked to.
#[test]
fn the_library_needs_and_offers_nothing_but_its_own() {
    if !is_there("readelf") || !is_there("nm") {
        return skip("what the C library exports", "binutils are not on this machine");
    }
    let library = built().join("libloopx.so");
    let read =
        |program: &str, flags: &str| good(Command::new(program).arg(flags).arg(&library)).stdout;
    let dynamic = read("readelf", "-d");
    let of = |kind: &str| -> Vec<String> {
        let lines = dynamic.lines().filter(|line| line.contains(kind));
        lines.map(|l| l.split('[').nth(1).unwrap().trim_end_matches(']').to_owned()).collect()
    };
    assert_eq!(of("(SONAME)"), ["libloopx.so.0"]);
    for needed in of("(NEEDED)") {
        let name = needed.split(".so").next().unwrap();
        let known = ["libc", "libm", "libgcc_s", "libpthread", "libdl", "librt", "libutil"];
        assert!(known.contains(&name) || name.starts_with("ld-linux"), "{needed}");
    }
    let header = fs::read_to_string(repository().join("ffi/include/loopx.h")).unwrap();
    let declared: Vec<&str> =
        ["loopx_call", "loopx_close", "loopx_free", "loopx_open", "loopx_version"]
            .into_iter()
            .filter(|name| header.contains(&format!("{name}(")))
            .collect();
    let symbols = read("nm", "-D")
        .lines()
        .filter(|line| line.contains(" T ") || line.contains(" B ") || line.contains(" D "))
        .map(|line| line.split(' ').next_back().unwrap().to_owned())
        .collect::<Vec<_>>();
    assert_eq!(symbols, declared);
    assert_eq!(declared.len(), 5);
}

/// What `cargo xtask dist` lays down is found by pkg-config wherever it is moved to, links
/// shared and static, and runs.
#[test]
fn what_dist_lays_down_is_found_wherever_it_is() {
    if !is_there("pkg-config") || !is_there("gcc") {
        return skip("the laid down C library", "pkg-config or gcc is not on this machine");
    }
    let world = World::new();
    let laid = world.path("laid");
    let mut dist = cargo(["xtask", "dist", "--built"]);
    let output = good(dist.arg(built()).arg("--to").arg(&laid));
    assert!(output.stdout.contains("loopx.pc"), "{output}");
    let moved = world.path("moved here");
    fs::rename(&laid, &moved).unwrap();
    let asked = |words: &[&str]| {
        let mut ask = Command::new("pkg-config");
        ask.args(words).arg("loopx").env("PKG_CONFIG_PATH", moved.join("lib/pkgconfig"));
        good(&mut ask).stdout.trim().to_owned()
    };
    assert_eq!(asked(&["--modversion"]), env!("CARGO_PKG_VERSION"));
    let shared = asked(&["--cflags", "--libs"]);
    let statically = asked(&["--static", "--cflags", "--libs"]).replace("-lloopx", "-l:libloopx.a");
    for (flags, path) in [(shared, moved.join("lib")), (statically, PathBuf::new())] {
        // By a shell, as a person has it, since the flags are words for one.
        let program = world.path("decide");
        let line = format!("gcc -Wall -Wextra -Werror \"$1\" {flags} -o \"$2\"");
        let mut compile = Command::new("sh");
        good(compile.args(["-c", &line, "sh"]).arg(source("decide.c")).arg(&program));
        let mut run = world.command([program.as_os_str(), "ada".as_ref()]);
        let output = good(run.env("LD_LIBRARY_PATH", path));
        assert_eq!(output.json()["should_run"], true);
    }
}

/// The lines that the README has for C are a program's body, and do what it says.
#[test]
fn the_lines_of_the_readme_are_a_program() {
    if !is_there("gcc") {
        return skip("the README's lines for C", "gcc is not on this machine");
    }
    let readme = fs::read_to_string(repository().join("README.md")).unwrap();
    let lines = readme.split("```c\n").nth(1).unwrap().split("```").next().unwrap();
    assert_eq!(lines.lines().count(), 5);
    let world = World::new();
    let file = world.path("ask.c");
    let head = "#include <loopx.h>\n#include <stdio.h>\n\nint main(void)\n{\n";
    fs::write(&file, format!("{head}{lines}return 0;\n}}\n")).unwrap();
    let more: &[&str] = if no_sanitizer().is_none() { &SANITIZED } else { &[] };
    let ask = world.compiled("gcc", &file, more);
    let output = good(&mut world.command([&ask]));
    assert_eq!(output.json()["should_run"], true);
    let output = good(world.command([&ask]).env("LOOPX_NOW", "noon"));
    assert_eq!(output.json()["about"], "now");
}
