//! The path of a hook event: it is parsed, waits for older events in the spool if there are any, is handed to the
//! writer, and is answered after COMMIT. No thread waits during this: there are few threads, and if they waited, the
//! writer's batches would be no larger than their number.

use std::sync::Arc;

use contract::OpInfo;
use contract::op::check_tier;
use model::hook::HookEvent;
use model::{OpError, Reply, Tier};
use store::{Write, Written};

use crate::behind_spool::WaitingEvent;
use crate::builtin::hook::Incoming;
use crate::runtime::RuntimeInner;

/// Records one event. `read` parses it and gets the current time. `is_quiet` says whether the spool had no older
/// event when this one arrived. `reply` is called when the event is committed or refused, on the thread that notices
/// it. The caller keeps the returned event until then, so that the writer thread need not free it.
pub(crate) fn accept(
    inner: &Arc<RuntimeInner>,
    (info, tier): (&'static OpInfo, Tier),
    is_quiet: bool,
    read: impl FnOnce(i64) -> Result<Incoming, OpError>,
    reply: impl FnOnce(Reply) + Send + 'static,
) -> Option<Arc<HookEvent>> {
    let now = (inner.clock)();
    let incoming = inner.fenced(info.name, || {
        check_tier(info, tier)?;
        read(now)
    });
    let incoming = match incoming {
        Ok(incoming) => incoming,
        Err(error) => {
            reply(Err(error));
            return None;
        }
    };
    let event = incoming.event();
    // An event that overtook those in the queue would be committed before older ones.
    if is_quiet && inner.behind_spool.is_empty() {
        write(inner, info, (incoming, now), reply);
    } else {
        let writing = inner.clone();
        let waiting = move |admitted: Result<(), OpError>| match admitted {
            Ok(()) => write(&writing, info, (incoming, now), reply),
            Err(error) => reply(Err(error)),
        };
        wait_behind_spool(inner, info, Box::new(waiting));
    }
    Some(event)
}

/// Drains the spool on a thread of the pool, or waits a moment while another thread does, and then hands all waiting
/// events to the writer in order.
fn wait_behind_spool(inner: &Arc<RuntimeInner>, info: &'static OpInfo, event: WaitingEvent) {
    inner.behind_spool.push(event);
    let draining = inner.clone();
    inner.pool.run(Box::new(move |admitted| {
        let queue = &draining.behind_spool;
        let go_on = |event: WaitingEvent, admitted: Result<(), OpError>| {
            // The panic hook has logged a panic; the other events continue.
            let _ = draining.fenced(info.name, || {
                event(admitted);
                Ok(())
            });
            queue.done();
        };
        if let Err(refusal) = admitted {
            // Each event has queued one task, so refusing one task refuses one event; the other tasks handle the
            // rest.
            queue.last().into_iter().for_each(|event| go_on(event, Err(refusal.clone())));
            return;
        }
        let _ = draining.fenced(info.name, || {
            draining.ingest_spool(None);
            Ok(())
        });
        let _order = queue.in_order();
        while let Some(event) = queue.first() {
            go_on(event, Ok(()));
        }
    }));
}

/// Hands the event to the writer.
fn write(
    inner: &Arc<RuntimeInner>,
    info: &'static OpInfo,
    (incoming, now): (Incoming, i64),
    reply: impl FnOnce(Reply) + Send + 'static,
) {
    inner.tool_calls.saw(&incoming.event());
    let record = incoming.record(inner);
    let write = Write { at: now, ..Write::default() };
    let answering = inner.clone();
    let waits = inner.store.hook_waits();
    inner.store.write_then(write, record, move |written| {
        drop(waits);
        match written {
            Ok(Written::Done(recorded)) => answer(&answering, info, incoming, recorded, reply),
            Ok(Written::Repeated(_)) => {
                reply(Err(OpError::internal("an event has no stored answer")));
            }
            Err(error) => reply(Err(error)),
        }
    });
}

/// Answers at once if there is nothing to say, else from a thread of the pool.
fn answer(
    inner: &Arc<RuntimeInner>,
    info: &'static OpInfo,
    incoming: Incoming,
    recorded: bool,
    reply: impl FnOnce(Reply) + Send + 'static,
) {
    if !recorded || !incoming.may_be_answered(inner) {
        return reply(inner.fenced(info.name, || incoming.output(inner, recorded).to_value()));
    }
    let telling = inner.clone();
    inner.pool.run(Box::new(move |admitted| {
        let output = || incoming.output(&telling, recorded).to_value();
        reply(admitted.and_then(|()| telling.fenced(info.name, output)));
    }));
}
