//! The external worker: a loop in a process of its own, for agents that a command can
//! wake. The loop is the kernel's (`loopx_core::host_loop`); here are the waiting, the
//! child, and one worker to a route.
//!
//! Without a wake command it only observes: it asks as any reader would, and the goal's
//! records stay as they are. With one, a run is admitted before the command is started,
//! the command is handed the turn, and a turn that it leaves unsettled ends with it.

mod hands;
pub mod install;
mod observe;
mod route;
mod status;
mod wait;
mod wake;

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use loopx_core::error::ErrorClass;
use loopx_core::file::Durability;
use loopx_core::host_loop::{Surface, retry};
use loopx_core::kernel::{Clock, Kernel, Whereabouts};
use loopx_core::model::Instant;
use loopx_core::operation::Addressed;
use loopx_core::schedule::ExecutionContext;
use loopx_core::{Error, ErrorCode};

pub use self::hands::{Hands, Own};
use self::route::Route;
pub use self::status::Form;
use self::status::Line;
use crate::alarm::Alarm;
use crate::signals;

/// `--host` word of the worker.
const SURFACE: &str = "shell";
/// Exit status after a question that failed, with `--once`, and of wrong usage.
const FAILED: u8 = 2;

/// What a worker is told.
#[derive(Clone, Debug)]
pub struct Options {
    /// Goal; the registry's only one when absent.
    pub goal_id: Option<String>,
    /// Agent, in any spelling.
    pub agent_id: String,
    /// Names the state route.
    pub state_file: Option<PathBuf>,
    /// Program and arguments of a wake; none to observe only.
    pub wake: Option<Vec<String>>,
    /// One look, then the end.
    pub once: bool,
    /// Seconds of the first wait after something failed; it doubles up to half an hour.
    pub error_backoff_seconds: u64,
    /// Time limit of a wake, none unless given.
    pub wake_timeout: Option<Duration>,
    /// Exit status of a wake that ends the worker normally.
    pub wake_stop_exit_code: Option<u8>,
    /// Time between SIGTERM and SIGKILL for a wake.
    pub wake_grace: Duration,
    /// Bytes that a wake may print on each stream.
    pub wake_output_limit: u64,
    /// Capabilities that the agent has.
    pub capabilities: Vec<String>,
    /// The agent works in a worktree of its own.
    pub independent_worktree: bool,
    /// Who wakes the agent.
    pub context: Option<ExecutionContext>,
    /// The kernel's clock.
    pub clock: Clock,
    /// How status lines are written.
    pub form: Form,
}

/// How a worker's life goes on after a step of it.
enum Next<T> {
    Go(T),
    /// The process ends with this status.
    Exit(u8),
}

/// Runs a worker to its end and answers the exit status of the process: 0 for a normal
/// stop, 2 after a failed question with `once`, 3 when the route is another's or its file
/// cannot be trusted, 128 and the number after a stop signal; with `once` the status of a
/// wake that failed.
pub fn run(kernel: &Kernel, options: &Options, out: &mut dyn Write) -> u8 {
    let mut own = Own { alarm: Alarm::new(), out };
    if let Err(error) = signals::listen(&own.alarm) {
        own.say(&failure(options, "tick_error", &error).shown(options.form));
        return FAILED;
    }
    run_with(kernel, options, &mut own)
}

/// [`run`] with hands of the caller's own, who listens for stop signals as well.
pub fn run_with(kernel: &Kernel, options: &Options, hands: &mut dyn Hands) -> u8 {
    let place = match find(kernel, options, hands) {
        Next::Go(place) => place,
        Next::Exit(status) => return status,
    };
    let route = match Route::take(&place, options.state_file.as_deref()) {
        Ok(route) => route,
        Err(error) => {
            let locked = error.code == ErrorCode::WorkerLocked;
            let kind = if locked { "locked" } else { "state_refused" };
            hands.say(&failure(options, kind, &error).shown(options.form));
            return error.row().exit.max(FAILED);
        }
    };
    let Some(surface) = Surface::find(SURFACE) else { return FAILED };
    let at = Addressed::to(place.goal_id.as_str());
    let mut worker = Worker { kernel, options, surface, at, place, route, hands, failures: 0 };
    worker.end_what_is_left();
    match &options.wake {
        Some(words) => worker.wake_loop(words),
        None => worker.observe_loop(),
    }
}

/// Finds the goal; what a later look may find otherwise is looked for again.
fn find(kernel: &Kernel, options: &Options, hands: &mut dyn Hands) -> Next<Whereabouts> {
    let mut failures = 0;
    loop {
        let error = match kernel.whereabouts(options.goal_id.as_deref(), &options.agent_id) {
            Ok(place) => return Next::Go(place),
            Err(error) => error,
        };
        failures += 1;
        let lasting = matches!(error.row().class, ErrorClass::Usage | ErrorClass::Identity);
        let wait = retry::after(failures, Some(options.error_backoff_seconds));
        let line = failure(options, "tick_error", &error);
        let line = if options.once || lasting { line } else { line.with("backoff_seconds", wait) };
        hands.say(&line.shown(options.form));
        if options.once || lasting {
            return Next::Exit(FAILED);
        }
        hands.sleep(Duration::from_secs(wait));
        if hands.stopped().is_some() {
            return Next::Exit(stop_status(hands));
        }
    }
}

fn failure(options: &Options, kind: &str, error: &Error) -> Line {
    Line::new(wait::now(options.clock), kind)
        .with("error", error.row().text)
        .with("about", error.about.as_str())
        .with("reason", error.text())
        .with("next", error.next_command())
}

/// The exit status after a stop signal.
fn stop_status(hands: &mut dyn Hands) -> u8 {
    u8::try_from(128 + hands.stopped().unwrap_or_default()).unwrap_or(FAILED)
}

/// A worker that has its route.
struct Worker<'a> {
    kernel: &'a Kernel,
    options: &'a Options,
    surface: &'static Surface,
    at: Addressed,
    place: Whereabouts,
    route: Route,
    hands: &'a mut dyn Hands,
    /// Questions that failed in a row.
    failures: u32,
}

impl Worker<'_> {
    fn now(&self) -> Instant {
        wait::now(self.options.clock)
    }

    fn line(&self, status: &str) -> Line {
        Line::new(self.now(), status)
    }

    /// Says a line and remembers it for readers of the state file.
    fn say(&mut self, line: Line) {
        self.hands.say(&line.shown(self.options.form));
        self.route.state.last_status = Some(line.fields().clone());
        // It is for readers only. Before a wake it is written again, and then it has to be.
        let _ = self.route.save(Durability::Unsynced);
    }

    /// A worker that was killed could not end its child.
    fn end_what_is_left(&mut self) {
        let Some(turn) = self.route.state.wake.take() else { return };
        let mark = format!("{}={turn}", wake::TURN);
        let ended = self.hands.end_marked(&mark, self.options.wake_grace);
        if ended > 0 {
            self.say(self.line("orphans_ended").with("turn", turn).with("processes", ended));
        }
    }

    /// A question failed: says so, and waits. Whether the worker ends.
    fn failed(&mut self, error: &Error) -> Next<()> {
        self.failures += 1;
        let seconds = retry::after(self.failures, Some(self.options.error_backoff_seconds));
        let line = failure(self.options, "tick_error", error);
        if self.options.once {
            self.say(line);
            return Next::Exit(FAILED);
        }
        self.say(line.with("backoff_seconds", seconds));
        let micros = i64::try_from(seconds).unwrap_or(i64::MAX).saturating_mul(1_000_000);
        let until = self.now().plus_micros(micros);
        match wait::until(until, self.options.clock, self.hands, &[], || false) {
            wait::Over::Stopped => Next::Exit(self.stopped()),
            _ => Next::Go(()),
        }
    }

    /// The process was asked to stop.
    fn stopped(&mut self) -> u8 {
        let signal = self.hands.stopped().unwrap_or_default();
        self.say(self.line("stopped").with("signal", signals::name(signal)));
        stop_status(self.hands)
    }
}
