//! Hook events without a thread that waits: each is handed to the writer at once and answered after
//! COMMIT. Threads that wait are few, and would keep the writer's groups as small.

use std::sync::Arc;

use contract::OpInfo;
use contract::op::check_tier;
use model::hook::HookEvent;
use model::{OpError, Reply, Tier};
use store::{Write, Written};

use crate::builtin::hook::Incoming;
use crate::runtime::Inner;

/// Takes in one event, which is read at the time that it is given. `reply` is called when it is committed or refused, on whichever thread that is
/// known. Whoever waits for it holds the event until then, so that the writer need not free it.
pub(crate) fn take(
    inner: &Arc<Inner>,
    (info, tier): (&'static OpInfo, Tier),
    read: impl FnOnce(i64) -> Result<Incoming, OpError>,
    reply: impl FnOnce(Reply) + Send + 'static,
) -> Option<Arc<HookEvent>> {
    let now = (inner.clock)();
    let incoming = inner.fenced(info, || {
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
    let record = incoming.record(inner);
    let write = Write { at: now, ..Write::default() };
    let answering = inner.clone();
    inner.store.write_then(write, record, move |written| match written {
        Ok(Written::Done(recorded)) => answer(&answering, info, incoming, recorded, reply),
        Ok(Written::Repeated(_)) => reply(Err(OpError::internal("an event has no stored answer"))),
        Err(error) => reply(Err(error)),
    });
    Some(event)
}

/// Answers at once if there is nothing to tell, else from a thread that has time for it.
fn answer(
    inner: &Arc<Inner>,
    info: &'static OpInfo,
    incoming: Incoming,
    recorded: bool,
    reply: impl FnOnce(Reply) + Send + 'static,
) {
    if !recorded || !incoming.may_be_answered(inner) {
        return reply(inner.fenced(info, || incoming.output(inner, recorded).to_value()));
    }
    let telling = inner.clone();
    inner.pool.run(Box::new(move |admitted| {
        let output = || incoming.output(&telling, recorded).to_value();
        reply(admitted.and_then(|()| telling.fenced(info, output)));
    }));
}
