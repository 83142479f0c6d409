//! The threads that calls run on off the JavaScript thread. They are LoopX's own: those that Node
//! has are the host's, four as a rule, for its files and name lookups, and a call may wait for a
//! lock as long as its deadline.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::Duration;

use napi::bindgen_prelude::Object;
use napi::{Env, Error, Result};

/// Most calls that run at once in the process; others wait their turn.
const MOST: usize = 8;
/// How long a thread that has nothing to do stays.
const IDLE: Duration = Duration::from_secs(5);

type Job = Box<dyn FnOnce() + Send>;

struct State {
    jobs: VecDeque<Job>,
    threads: usize,
    idle: usize,
}

static STATE: Mutex<State> = Mutex::new(State { jobs: VecDeque::new(), threads: 0, idle: 0 });
static CAME: Condvar = Condvar::new();

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A promise of the text that `work` gives. `work` catches its own panics.
pub fn promise(env: &Env, work: impl FnOnce() -> String + Send + 'static) -> Result<Object<'_>> {
    let (deferred, promise) = env.create_deferred()?;
    start(Box::new(move || {
        let text = work();
        deferred.resolve(move |_| Ok(text));
    }))?;
    Ok(promise)
}

fn start(job: Job) -> Result<()> {
    let mut state = state();
    state.jobs.push_back(job);
    if state.idle >= state.jobs.len() || state.threads == MOST {
        CAME.notify_one();
        return Ok(());
    }
    match Builder::new().name("loopx-call".into()).spawn(serve) {
        Ok(_) => state.threads += 1,
        // Those that run come to it.
        Err(_) if state.threads > 0 => CAME.notify_one(),
        Err(error) => {
            state.jobs.pop_back();
            return Err(Error::from_reason(format!("no thread can be started: {error}")));
        }
    }
    Ok(())
}

fn serve() {
    let mut state = state();
    loop {
        if let Some(job) = state.jobs.pop_front() {
            drop(state);
            job();
            state = self::state();
            continue;
        }
        state.idle += 1;
        let (woken, waited) =
            CAME.wait_timeout(state, IDLE).unwrap_or_else(PoisonError::into_inner);
        state = woken;
        state.idle -= 1;
        if waited.timed_out() && state.jobs.is_empty() {
            state.threads -= 1;
            return;
        }
    }
}
