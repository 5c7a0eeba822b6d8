//! Dispatch of a call to its handler: lookup, tier, spool, panic handling, stored answers, audit.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock, mpsc};
use std::time::{Duration, Instant};

use contract::op::check_tier;
use contract::{CallStore, Cx, KnownCaller, OpInfo, Operation, ProgressWatcher, RunningJob, Tier};
use model::hook::HookEvent;
use model::wire::fingerprint;
use model::{CallId, Code, OpError, Reply, Request, Road, limits};
use serde_json::Value;
use tokio::sync::oneshot::Receiver;

use crate::builtin::hook::{self, EventParams, Incoming};
use crate::intake;
use crate::jobs::JobWork;
use crate::log::Level;
use crate::runtime::{Runtime, RuntimeInner};

impl Road for Runtime {
    fn call(&self, request: Request) -> Reply {
        let info = self.table().get(&request.op)?.info;
        let deadline = CallDeadline::of(info);
        let (sender, receiver) = mpsc::sync_channel(1);
        let reply = move |reply| {
            // The caller may have stopped waiting.
            let _ = sender.send(reply);
        };
        let wait = || loop {
            match receiver.recv_timeout(deadline.left()) {
                Ok(reply) => return reply,
                // The time of a job counts from its start, so there may be time left.
                Err(mpsc::RecvTimeoutError::Timeout) if !deadline.left().is_zero() => {}
                Err(_) => return Err(deadline.passed()),
            }
        };
        if info.name != hook::NAME {
            self.submit(info, (request, None), &deadline, reply);
            return wait();
        }
        let Request { call, params, caller, .. } = request;
        let audit = Audit::begin(&self.inner, info, (call, caller.tier));
        let read = |now| Incoming::read(params, call, caller.tier, now);
        let quiet = self.spool_is_quiet();
        let event = intake::accept(&self.inner, (info, caller.tier), quiet, read, reply);
        let reply = wait();
        audit.note(&reply);
        drop(event);
        reply
    }
}

impl Runtime {
    /// [`Road::call`] for surfaces that are asynchronous.
    pub async fn call_async(&self, request: Request) -> Reply {
        self.call_watched(request, None).await
    }

    /// [`Runtime::call_async`] for a caller that follows the progress of a job.
    pub async fn call_watched(&self, request: Request, watcher: Option<ProgressWatcher>) -> Reply {
        let begun = self.begun(request, watcher);
        begun.end().await
    }

    /// Whether the spool has no event older than those that have arrived by now.
    pub fn spool_is_quiet(&self) -> bool {
        self.inner.spool.is_quiet()
    }

    /// Starts to record a hook event at once, and returns a future for the result. Events are committed in the order
    /// of these calls, after those in the spool. `is_quiet` is [`Runtime::spool_is_quiet`] when the event had
    /// arrived.
    pub fn begin_event(
        &self,
        params: EventParams<'_>,
        (call, tier): (CallId, Tier),
        is_quiet: bool,
    ) -> impl Future<Output = Reply> + Send + use<> {
        let begun = match self.table().get(hook::NAME) {
            Ok(op) => {
                let read = |now| Incoming::of(params, Some(call), tier, now);
                self.intake(op.info, (call, tier), is_quiet, read)
            }
            Err(error) => StartedCall::Ended(Err(error)),
        };
        begun.end()
    }

    fn begun(&self, request: Request, watcher: Option<ProgressWatcher>) -> StartedCall {
        let info = match self.table().get(&request.op) {
            Ok(op) => op.info,
            Err(error) => return StartedCall::Ended(Err(error)),
        };
        if info.inline {
            return StartedCall::Ended(self.inner.perform(request));
        }
        if info.name == hook::NAME {
            let Request { call, params, caller, .. } = request;
            let read = |now| Incoming::read(params, call, caller.tier, now);
            return self.intake(info, (call, caller.tier), self.spool_is_quiet(), read);
        }
        let (reply, receiver) = one_reply();
        let deadline = CallDeadline::of(info);
        self.submit(info, (request, watcher), &deadline, reply);
        StartedCall::Pending(deadline, receiver)
    }

    fn intake(
        &self,
        info: &'static OpInfo,
        (call, tier): (CallId, Tier),
        is_quiet: bool,
        read: impl FnOnce(i64) -> Result<Incoming, OpError>,
    ) -> StartedCall {
        let (reply, receiver) = one_reply();
        let audit = Audit::begin(&self.inner, info, (call, tier));
        let event = intake::accept(&self.inner, (info, tier), is_quiet, read, reply);
        StartedCall::Intake(CallDeadline::of(info), receiver, audit, event)
    }

    fn submit(
        &self,
        info: &OpInfo,
        (request, watcher): (Request, Option<ProgressWatcher>),
        deadline: &CallDeadline,
        reply: impl FnOnce(Reply) + Send + 'static,
    ) {
        let inner = self.inner.clone();
        if !info.job {
            return self.inner.pool.run(Box::new(move |admitted| {
                reply(admitted.and_then(|()| inner.perform(request)));
            }));
        }
        // Queueing a job waits for the writer, so the pool does that too.
        let starts = deadline.starts.clone();
        self.inner.pool.run(Box::new(move |admitted| match admitted {
            Ok(()) => inner.submit_job((request, watcher), starts, Box::new(reply)),
            Err(error) => reply(Err(error)),
        }));
    }
}

/// The sender and the receiver of a reply.
fn one_reply() -> (impl FnOnce(Reply) + Send + 'static, Receiver<Reply>) {
    let (sender, receiver) = tokio::sync::oneshot::channel();
    let reply = move |reply| {
        // The caller may have stopped waiting.
        let _ = sender.send(reply);
    };
    (reply, receiver)
}

/// A call that was started.
enum StartedCall {
    Ended(Reply),
    Pending(CallDeadline, Receiver<Reply>),
    /// Runs on no thread of the pool, so the waiting caller writes the audit line.
    Intake(CallDeadline, Receiver<Reply>, Audit, Option<Arc<HookEvent>>),
}

impl StartedCall {
    async fn end(self) -> Reply {
        match self {
            StartedCall::Ended(reply) => reply,
            StartedCall::Pending(deadline, receiver) => wait(deadline, receiver).await,
            StartedCall::Intake(deadline, receiver, audit, event) => {
                let reply = wait(deadline, receiver).await;
                audit.note(&reply);
                drop(event);
                reply
            }
        }
    }
}

async fn wait(deadline: CallDeadline, mut receiver: Receiver<Reply>) -> Reply {
    loop {
        match tokio::time::timeout(deadline.left(), &mut receiver).await {
            Ok(Ok(reply)) => return reply,
            Ok(Err(_)) => {
                return Err(OpError::unavailable("the daemon is ending").hint("Try again."));
            }
            // The time of a job counts from its start, so there may be time left.
            Err(_) if !deadline.left().is_zero() => {}
            Err(_) => return Err(deadline.passed()),
        }
    }
}

/// The deadline of a call. The time of a job counts from its start, because it may have to
/// wait for other jobs.
struct CallDeadline {
    time: Duration,
    /// When the time starts to count; empty as long as a job waits.
    starts: Arc<OnceLock<Instant>>,
}

impl CallDeadline {
    fn of(info: &OpInfo) -> CallDeadline {
        let starts = match info.job {
            true => OnceLock::new(),
            false => OnceLock::from(Instant::now()),
        };
        CallDeadline { time: limits::in_this_build(info.deadline), starts: Arc::new(starts) }
    }

    fn left(&self) -> Duration {
        self.starts.get().map_or(self.time, |start| self.time.saturating_sub(start.elapsed()))
    }

    fn passed(&self) -> OpError {
        OpError::new(Code::Timeout, format!("no answer within {} s", self.time.as_secs()))
            .hint("The call may still finish; see `rekindle status` and `rekindle logs`.")
    }
}

/// The data of a call's audit line.
struct Audit {
    inner: Arc<RuntimeInner>,
    info: &'static OpInfo,
    tier: Tier,
    call: CallId,
    started: Instant,
}

impl Audit {
    fn begin(
        inner: &Arc<RuntimeInner>,
        info: &'static OpInfo,
        (call, tier): (CallId, Tier),
    ) -> Audit {
        Audit { inner: inner.clone(), info, tier, call, started: Instant::now() }
    }

    fn note(&self, reply: &Reply) {
        let Audit { inner, info, tier, call, started } = self;
        let audited = if info.access.is_read() { Level::Debug } else { Level::Info };
        if inner.log.keeps(audited) {
            let outcome = reply.as_ref().map_or_else(|error| error.code.row().word, |_| "ok");
            let (name, micros) = (info.name, started.elapsed().as_micros());
            inner.log.line(
                audited,
                "call",
                format_args!("op={name} tier={tier:?} call={call} us={micros} outcome={outcome}"),
            );
        }
    }
}

impl RuntimeInner {
    /// Runs one call to its end on this thread.
    fn perform(self: &Arc<RuntimeInner>, request: Request) -> Reply {
        let op = self.table.get(&request.op)?;
        let audit = Audit::begin(self, op.info, (request.call, request.caller.tier));
        let reply = self.checked(op, request, None);
        audit.note(&reply);
        reply
    }

    /// Queues a call as a job. An invalid call leaves no row.
    fn submit_job(
        self: &Arc<RuntimeInner>,
        (request, watcher): (Request, Option<ProgressWatcher>),
        starts: Arc<OnceLock<Instant>>,
        reply: Box<dyn FnOnce(Reply) + Send>,
    ) {
        let op = match self.table.get(&request.op) {
            Ok(op) => op,
            Err(error) => return reply(Err(error)),
        };
        let (name, tier) = (op.info.name, request.caller.tier);
        let audit = Audit::begin(self, op.info, (request.call, tier));
        let reply: Box<dyn FnOnce(Reply) + Send> = Box::new(move |result| {
            audit.note(&result);
            reply(result);
        });
        let checked = self.fenced(name, || {
            check_tier(op.info, tier)?;
            op.check_params(&request.params)
        });
        if let Err(error) = checked {
            return reply(Err(error));
        }
        let inner = self.clone();
        let run = move |job| {
            // Set once, here.
            let _ = starts.set(Instant::now());
            inner.checked(inner.table.get(&request.op)?, request, Some(job))
        };
        self.queue_job(name, watcher, JobWork { run: Box::new(run), reply });
    }

    fn checked(
        self: &Arc<RuntimeInner>,
        op: &Operation,
        request: Request,
        job: Option<Arc<RunningJob>>,
    ) -> Reply {
        let Request { call, params, caller, .. } = request;
        // An inline read is answered from memory, where waiting for the spool is not allowed.
        if op.info.access.is_read() && !op.info.inline {
            self.ingest_before_read();
        }
        check_tier(op.info, caller.tier)?;
        op.refuse_hidden(&params, caller.tier)?;
        let write = !op.info.access.is_read();
        if write {
            self.ingest_spool(None);
        }
        let call = write.then_some(call);
        let caller = KnownCaller::new(&caller, &self.places);
        self.fenced(op.info.name, || self.run(op, (call, job), &caller, params))
    }

    /// Runs code of an operation that may panic because of a defect.
    pub(crate) fn fenced<T>(
        &self,
        op: &str,
        f: impl FnOnce() -> Result<T, OpError>,
    ) -> Result<T, OpError> {
        catch_unwind(AssertUnwindSafe(f)).unwrap_or_else(|_| {
            // The panic hook has logged the place. The message is not logged: it may contain user text.
            self.log.error("call", format_args!("op={op} panicked"));
            Err(OpError::internal(format!("{op} failed because of a bug"))
                .hint("`rekindle logs` names the line of code; please report it."))
        })
    }

    fn run(
        &self,
        op: &Operation,
        (call, job): (Option<CallId>, Option<Arc<RunningJob>>),
        caller: &KnownCaller<'_>,
        params: Value,
    ) -> Reply {
        let now = (self.clock)();
        let fingerprint = call.map_or(0, |_| fingerprint(op.info.name, &params));
        let store = CallStore::new(&self.store, call, fingerprint, now).of_job(job);
        let nested = |name: &str, params: Value| {
            let op = self.table.get(name)?;
            check_tier(op.info, caller.tier)?;
            self.run(op, (None, None), caller, params)
        };
        let cx = Cx::new(caller, now, &self.config, store, &nested);
        let reply = op.run(&cx, params);
        match cx.store.take_repeated() {
            Some(answer) => serde_json::from_str(&answer)
                .map_err(|_| OpError::internal("the stored answer is not readable")),
            None => reply,
        }
    }
}
