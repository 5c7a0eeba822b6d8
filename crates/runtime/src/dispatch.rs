//! The one road to a handler: lookup, tier, spool, panic fence, stored answers, audit.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::time::Instant;

use contract::op::check_tier;
use contract::{CallStore, Cx, Operation};
use model::wire::fingerprint;
use model::{CallId, Caller, Code, OpError, Reply, Request, Road};
use serde_json::Value;

use crate::log::Level;
use crate::runtime::{Inner, Runtime};

impl Road for Runtime {
    fn call(&self, request: Request) -> Reply {
        let deadline = self.table().get(&request.op)?.info.deadline;
        let (sender, receiver) = mpsc::sync_channel(1);
        self.submit(request, move |reply| {
            // A caller that stopped waiting has no use for the answer.
            let _ = sender.send(reply);
        });
        receiver.recv_timeout(deadline).unwrap_or_else(|_| Err(late(deadline.as_secs())))
    }
}

impl Runtime {
    /// [`Road::call`] for surfaces that are asynchronous.
    pub async fn call_async(&self, request: Request) -> Reply {
        let info = self.table().get(&request.op)?.info;
        if info.inline {
            return self.inner.perform(request);
        }
        let (sender, receiver) = tokio::sync::oneshot::channel();
        self.submit(request, move |reply| {
            let _ = sender.send(reply);
        });
        match tokio::time::timeout(info.deadline, receiver).await {
            Ok(Ok(reply)) => reply,
            Ok(Err(_)) => Err(OpError::unavailable("the daemon is ending").hint("Try again.")),
            Err(_) => Err(late(info.deadline.as_secs())),
        }
    }

    fn submit(&self, request: Request, reply: impl FnOnce(Reply) + Send + 'static) {
        let inner = self.inner.clone();
        let job = move |admitted: Result<(), OpError>| {
            reply(admitted.and_then(|()| inner.perform(request)));
        };
        self.inner.pool.run(Box::new(job));
    }
}

fn late(seconds: u64) -> OpError {
    OpError::new(Code::Timeout, format!("no answer within {seconds} s"))
        .hint("Look at `rekindle status` and `rekindle logs`.")
}

impl Inner {
    /// Runs one call to its end on this thread.
    fn perform(&self, request: Request) -> Reply {
        let started = Instant::now();
        let op = self.table.get(&request.op)?;
        let Request { call, params, caller, .. } = request;
        let reply = self.checked(op, call, &caller, params);
        let audited = if op.info.access.is_read() { Level::Debug } else { Level::Info };
        if self.log.keeps(audited) {
            let outcome = reply.as_ref().map_or_else(|error| error.code.row().word, |_| "ok");
            let micros = started.elapsed().as_micros();
            let (name, tier) = (op.info.name, caller.tier);
            self.log.line(
                audited,
                "call",
                format_args!("op={name} tier={tier:?} call={call} us={micros} outcome={outcome}"),
            );
        }
        reply
    }

    fn checked(&self, op: &Operation, call: CallId, caller: &Caller, params: Value) -> Reply {
        check_tier(op.info, caller.tier)?;
        let write = !op.info.access.is_read();
        if write {
            self.ingest_spool();
        }
        let call = write.then_some(call);
        let fenced = catch_unwind(AssertUnwindSafe(|| self.run(op, call, caller, params)));
        fenced.unwrap_or_else(|_| {
            // The panic hook has logged where; what it said may hold user text.
            self.log.error("call", format_args!("op={} panicked", op.info.name));
            Err(OpError::internal(format!("{} failed on a defect", op.info.name))
                .hint("The place is in `rekindle logs`; please report it."))
        })
    }

    fn run(&self, op: &Operation, call: Option<CallId>, caller: &Caller, params: Value) -> Reply {
        let now = (self.clock)();
        let fingerprint = call.map_or(0, |_| fingerprint(op.info.name, &params));
        let store = CallStore::new(&self.store, call, fingerprint, now);
        let nested = |name: &str, params: Value| {
            let op = self.table.get(name)?;
            check_tier(op.info, caller.tier)?;
            self.run(op, None, caller, params)
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
