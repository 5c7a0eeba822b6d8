//! `serve` for one MCP client on stdin and stdout, as PRIMARY or as PROXY. Switches between the two as needed.
//!
//! Lines are handled one after the other, so at most one is in flight when a PRIMARY is lost. It is sent again to the
//! next PRIMARY, with the same id. Only MCP frames are written to stdout.

mod own_session;
mod updates;

use std::io;
use std::time::{Duration, Instant};

use client::road::{EnvWishes, asks_on};
use mcp::{McpServer, Notified, Notifying, Peer, SubscriptionChange};
use model::locations::Locations;
use model::wire::{Answer, Build, Envelope, Hello};
use model::{CallId, Caller, Code, OpError, Tier, limits};
use runtime::Runtime;
use serde_json::{Value, json};
use tokio::io::{AsyncBufRead, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::mpsc;

use crate::lock::Lock;
use crate::platform::EndSignals;
use crate::primary::{DaemonOptions, EndReason, Primary};
use crate::rpc::{self, RpcFrame};
use crate::socket::{read_line, too_large};
use own_session::Asked;
use updates::{Live, LiveUpdates};

/// Methods that can be answered without the PRIMARY, because their result depends only on this build.
const HANDSHAKE: [&str; 3] = ["initialize", "ping", "tools/list"];

/// The configuration of a stdio server.
pub struct Stdio<O, L> {
    pub locations: Locations,
    pub options: DaemonOptions,
    /// The toolsets that its client sees.
    pub tools: String,
    /// The agent's session id, from the environment.
    pub session: Option<String>,
    /// Whether a daemon of an older build was already asked to end.
    pub asked_to_leave: bool,
    /// Opens the runtime, should this process become PRIMARY.
    pub open: O,
    /// Opens the runtime read-only, beside a PRIMARY that hangs.
    pub open_read_only: L,
    /// Answers the handshake while the PRIMARY hangs.
    pub beside: Beside,
}

/// Whether the PRIMARY hung at the last attempt to reach it, and the server that then answers the handshake.
#[derive(Default)]
pub struct Beside {
    hangs: bool,
    server: Option<McpServer>,
}

/// The PRIMARY that answers our client's lines: this process, or another one.
enum Backend {
    Local(Box<Primary>),
    Remote(Remote),
}

impl<O, L> Stdio<O, L>
where
    O: FnMut() -> Result<Runtime, OpError>,
    L: FnMut() -> Result<Runtime, OpError>,
{
    /// Serves until stdin ends or a signal arrives. Fails if there is no PRIMARY at the start and this process cannot
    /// be it.
    pub async fn run(mut self) -> Result<(), OpError> {
        let mut signals = EndSignals::listen()
            .map_err(|error| OpError::internal(format!("no signal handlers: {error}")))?;
        let mut client = StdioClient {
            tools: self.tools.clone(),
            session: self.session.take(),
            ..StdioClient::default()
        };
        let mut live = LiveUpdates::new();
        let mut stdin = BufReader::new(tokio::io::stdin());
        let (acquired, signalled) = until_signalled(self.acquire(), &mut signals).await;
        let mut backend = match acquired.transpose() {
            // A PRIMARY that hangs may recover later, so our client is not given up: each line tries again.
            Err(error) if error.code == Code::Timeout => None,
            acquired => acquired?,
        };
        if signalled {
            return end(backend, true, &mut signals).await;
        }
        let mut line = Vec::new();
        let mut last = false;
        loop {
            let read = tokio::select! {
                read = read_line(&mut stdin, &mut line) => read,
                () = signals.received() => return end(backend, true, &mut signals).await,
                // A client may stop the daemon in this process; the next line finds or starts another.
                why = ended(backend.as_ref()) => {
                    if let Some(Backend::Local(primary)) = backend.take() {
                        primary.finish(why).await;
                    }
                    live.ended();
                    continue;
                }
                next = live.next() => {
                    match self.keep_live(next, &mut live, &mut backend, &mut signals).await {
                        Ok(false) => {}
                        Ok(true) => return end(backend, true, &mut signals).await,
                        Err(error) => return stdout_lost(&error, backend, &mut signals).await,
                    }
                    continue;
                }
            };
            match read {
                Ok(true) => {}
                // The last line may lack its newline.
                Ok(false) if !line.is_empty() => last = true,
                Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
                    line.clear();
                    if let Err(error) = write_stdout(&too_large()).await {
                        return stdout_lost(&error, backend, &mut signals).await;
                    }
                    skip_line(&mut stdin).await;
                    continue;
                }
                Ok(false) | Err(_) => return end(backend, false, &mut signals).await,
            }
            if !line.iter().all(u8::is_ascii_whitespace) {
                let parts = (&mut client, &mut live, &mut backend);
                match self.converse(&line, parts, &mut signals).await {
                    Ok(false) => {}
                    Ok(true) => return end(backend, true, &mut signals).await,
                    Err(error) => return stdout_lost(&error, backend, &mut signals).await,
                }
            }
            line.clear();
            if last {
                return end(backend, false, &mut signals).await;
            }
        }
    }

    /// Answers one line on stdout. Returns whether a signal arrived; fails if stdout is lost.
    async fn converse(
        &mut self,
        line: &[u8],
        (client, live, backend): (&mut StdioClient, &mut LiveUpdates, &mut Option<Backend>),
        signals: &mut EndSignals,
    ) -> io::Result<bool> {
        let (notify, notifications) = mpsc::channel(limits::NOTIFICATIONS_QUEUE_MAX);
        let asked = own_session::asked(line);
        if let Some(Asked::Introduction(name)) = &asked {
            client.name = Some(name.clone());
        }
        let answer = self.answer(client, backend, line, notify);
        let answer = with_notifications(answer, notifications, live);
        let (reply, signalled) = until_signalled(answer, signals).await;
        let changes = std::mem::take(&mut client.changes);
        live.apply(changes, backend.as_ref(), &self.locations).await;
        client.subscriptions = live.count();
        if let Some(reply) = reply.flatten() {
            if asked == Some(Asked::OwnSession) && client.session.is_none() {
                client.session = own_session::of_reply(&reply);
            }
            write_stdout(&reply).await?;
        }
        Ok(signalled)
    }

    /// Reports updates to our client, or renews its subscriptions. Returns whether a signal arrived; fails if stdout
    /// is lost.
    async fn keep_live(
        &mut self,
        next: Live,
        live: &mut LiveUpdates,
        backend: &mut Option<Backend>,
        signals: &mut EndSignals,
    ) -> io::Result<bool> {
        let may_take_over = match next {
            Live::Renew { may_take_over } => may_take_over,
            Live::Lines(lines) => {
                for line in lines {
                    write_stdout(&line).await?;
                }
                return Ok(false);
            }
        };
        let mut signalled = false;
        if !matches!(backend, Some(Backend::Local(_))) {
            let found;
            (found, signalled) = until_signalled(self.find(may_take_over), signals).await;
            *backend = found.flatten();
        }
        if !signalled {
            live.apply(Vec::new(), backend.as_ref(), &self.locations).await;
        }
        Ok(signalled)
    }

    /// Answers one line through the current PRIMARY, after a failover through the next one.
    async fn answer(
        &mut self,
        client: &mut StdioClient,
        backend: &mut Option<Backend>,
        line: &[u8],
        notify: mpsc::Sender<String>,
    ) -> Option<String> {
        let mut notify = Some(notify);
        let call = client::mint();
        let until = Instant::now() + limits::FIND_PRIMARY;
        loop {
            // The backend stays in its place during the call, because a signal may cancel the wait at any time.
            let current = match backend {
                Some(current) => current,
                None => {
                    if let Some(answer) = self.answer_beside(client, line, call).await {
                        return answer;
                    }
                    match self.acquire().await {
                        Ok(acquired) => backend.insert(acquired),
                        Err(error) => return failure(line, &error),
                    }
                }
            };
            let broken = match client.ask(current, &self.locations, line, (call, &notify)).await {
                Ok(reply) => return reply,
                Err(broken) => broken,
            };
            *backend = None;
            // The next PRIMARY would report from the start, and progress has to increase.
            notify = None;
            match broken {
                Broken::Lost if Instant::now() < until => {}
                Broken::Lost => {
                    let error = OpError::unavailable("the connection to the daemon was lost")
                        .hint("See `rekindle logs` and `rekindle doctor`.");
                    return failure(line, &error);
                }
                // A late reply would be taken for that of the next line, so the connection was closed.
                Broken::Hangs => return failure(line, &hangs()),
            }
        }
    }

    /// Answers a line of the handshake while the PRIMARY hangs: an agent whose `initialize` fails does not use the
    /// server for the rest of its session. `None` if the line needs the PRIMARY.
    async fn answer_beside(
        &mut self,
        client: &mut StdioClient,
        line: &[u8],
        call: CallId,
    ) -> Option<Option<String>> {
        if !self.beside.hangs || !is_handshake(line) {
            return None;
        }
        let server = match &mut self.beside.server {
            Some(server) => server,
            none => none.insert(McpServer::new((self.open_read_only)().ok()?)),
        };
        let answer = server.line(line, client.peer(call, None)).await;
        client.revision = answer.revision.or(client.revision.take());
        client.changes.extend(answer.changes);
        Some(answer.line)
    }

    /// Finds a PRIMARY that is running, or becomes it if that is allowed.
    async fn find(&mut self, may_become: bool) -> Option<Backend> {
        if may_become {
            return self.acquire().await.ok();
        }
        let mut remote = Remote::connect(&self.locations).await.ok()?;
        let hello = remote.hello(&self.locations, &self.options.build).await.ok()?;
        hello.ok().map(|_| Backend::Remote(remote))
    }

    /// Finds the PRIMARY, or becomes it, and notes whether it hangs.
    async fn acquire(&mut self) -> Result<Backend, OpError> {
        let acquired = self.find_or_become().await;
        match &acquired {
            Ok(_) => self.beside = Beside::default(),
            Err(error) => self.beside.hangs = error.code == Code::Timeout,
        }
        acquired
    }

    async fn find_or_become(&mut self) -> Result<Backend, OpError> {
        let until = Instant::now() + limits::FIND_PRIMARY;
        loop {
            if let Some(lock) = Lock::try_take(&self.locations)? {
                let runtime = (self.open)()?;
                let primary = Primary::start(lock, runtime, self.options.clone()).await?;
                return Ok(Backend::Local(Box::new(primary)));
            }
            if let Ok(mut remote) = Remote::connect(&self.locations).await {
                match remote.hello(&self.locations, &self.options.build).await {
                    Ok(Ok(hello)) => {
                        // Asked only once: two builds on one machine must not keep replacing each other.
                        let newer = self.options.build.is_newer_than(&hello.build);
                        let ask = newer && !std::mem::replace(&mut self.asked_to_leave, true);
                        if !ask || !remote.ask_to_leave().await {
                            return Ok(Backend::Remote(remote));
                        }
                    }
                    Ok(Err(error)) => return Err(error),
                    Err(Broken::Hangs) => return Err(hangs()),
                    Err(Broken::Lost) => {}
                }
            }
            if Instant::now() >= until {
                return Err(hangs());
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

/// Whether a line belongs to the handshake. Notifications count too: they need no PRIMARY.
fn is_handshake(line: &[u8]) -> bool {
    let Ok(RpcFrame::One(request)) = rpc::parse(line) else { return false };
    request.id.is_none() || request.method().is_some_and(|method| HANDSHAKE.contains(&method))
}

fn hangs() -> OpError {
    OpError::new(Code::Timeout, "the daemon holds its lock but does not answer")
        .hint("It may be suspended or very busy: see `rekindle doctor`.")
}

/// Waits until the PRIMARY in this process has to end; for ever if there is none.
async fn ended(backend: Option<&Backend>) -> EndReason {
    match backend {
        Some(Backend::Local(primary)) => primary.ended().await,
        _ => std::future::pending().await,
    }
}

/// Shuts down after our client has left or a signal has arrived.
async fn end(
    backend: Option<Backend>,
    signalled: bool,
    signals: &mut EndSignals,
) -> Result<(), OpError> {
    let Some(Backend::Local(primary)) = backend else { return Ok(()) };
    if signalled {
        primary.signalled();
    }
    primary.stdin_closed();
    primary.run_to_end(signals).await;
    Ok(())
}

/// Handles a failed write to stdout: our own client cannot be answered any more. Clients that we serve as PRIMARY
/// are still served. A closed pipe is not an error: the client has left.
async fn stdout_lost(
    error: &io::Error,
    backend: Option<Backend>,
    signals: &mut EndSignals,
) -> Result<(), OpError> {
    end(backend, false, signals).await?;
    if error.kind() == io::ErrorKind::BrokenPipe {
        return Ok(());
    }
    Err(OpError::unavailable(format!("cannot write to stdout: {error}")))
}

/// Waits for `work`; after a signal only for a limited time. Returns whether a signal arrived.
async fn until_signalled<T>(
    work: impl Future<Output = T>,
    signals: &mut EndSignals,
) -> (Option<T>, bool) {
    let mut work = std::pin::pin!(work);
    tokio::select! {
        done = &mut work => return (Some(done), false),
        () = signals.received() => {}
    }
    (tokio::time::timeout(limits::DRAIN, work).await.ok(), true)
}

/// How a call to the PRIMARY can fail.
enum Broken {
    /// The connection is gone.
    Lost,
    /// No reply came in time.
    Hangs,
}

/// The data about our own client that the PRIMARY needs.
#[derive(Default)]
struct StdioClient {
    tools: String,
    /// The agent's session, from the environment; else the session whose ghap the client started or adopted.
    session: Option<String>,
    /// The name with which it introduced itself.
    name: Option<String>,
    revision: Option<String>,
    /// The environment variables that the PRIMARY asked for last.
    wishes: EnvWishes,
    /// The number of its subscriptions.
    subscriptions: usize,
    /// Changes of its subscriptions by the last line, which are not applied yet.
    changes: Vec<SubscriptionChange>,
}

impl StdioClient {
    fn caller(&self) -> Caller {
        Caller {
            tier: Tier::Agent,
            session: self.session.clone(),
            client: self.name.clone(),
            situation: client::platform::situation(),
        }
    }

    /// Our client as the sender of a line that this process answers.
    fn peer(&self, call: CallId, notify: Option<mpsc::Sender<String>>) -> Peer {
        let (revision, tools) = (self.revision.clone(), self.tools.clone());
        let subscriptions = Some(self.subscriptions);
        Peer { caller: self.caller(), call, revision, tools, notify, subscriptions }
    }

    /// Sends one line to the current PRIMARY.
    async fn ask(
        &mut self,
        backend: &mut Backend,
        locations: &Locations,
        line: &[u8],
        (call, notify): (CallId, &Option<mpsc::Sender<String>>),
    ) -> Result<Option<String>, Broken> {
        let mcp::Answer { line: reply, revision, changes } = match backend {
            Backend::Local(primary) => {
                let mut from = self.peer(call, notify.clone());
                from.caller.situation.env = client::platform::environment(&primary.asks_env());
                primary.line(line, from).await
            }
            Backend::Remote(remote) => {
                let mut envelope = Envelope {
                    call,
                    caller: self.caller(),
                    db: Some(locations.database.to_string_lossy().into_owned()),
                    revision: self.revision.clone(),
                    tools: Some(self.tools.clone()),
                    env_stamp: None,
                };
                let count = self.subscriptions;
                remote.forward((line, count), &mut envelope, &mut self.wishes, notify).await?
            }
        };
        self.changes.extend(changes);
        if revision.is_some() {
            self.revision = revision;
        }
        Ok(reply)
    }
}

/// A connection to the PRIMARY.
struct Remote {
    reader: BufReader<OwnedReadHalf>,
    writer: OwnedWriteHalf,
}

impl Remote {
    async fn connect(locations: &Locations) -> io::Result<Remote> {
        let socket = locations.socket();
        if !socket.parent().is_some_and(client::platform::is_private) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let (reader, writer) = UnixStream::connect(socket).await?.into_split();
        Ok(Remote { reader: BufReader::new(reader), writer })
    }

    async fn hello(
        &mut self,
        locations: &Locations,
        build: &Build,
    ) -> Result<Result<Hello, OpError>, Broken> {
        let params =
            json!({ "build": build.to_string(), "db": locations.database.to_string_lossy() });
        let reply = self.exchange("rekindle/hello", params, None).await?;
        Ok(reply.reply().and_then(|hello| {
            serde_json::from_value(hello)
                .map_err(|_| OpError::internal("the daemon's hello is not understood"))
        }))
    }

    async fn ask_to_leave(&mut self) -> bool {
        match self.exchange("rekindle/retire", json!({}), None).await {
            Ok(answer) => answer.reply().is_ok_and(|reply| reply["leaving"] == json!(true)),
            Err(_) => true,
        }
    }

    /// Forwards one MCP line and returns its answer. An error on our side becomes an MCP error, so that the client is
    /// not left waiting.
    async fn forward(
        &mut self,
        (line, subscriptions): (&[u8], usize),
        envelope: &mut Envelope,
        wishes: &mut EnvWishes,
        notify: &Option<mpsc::Sender<String>>,
    ) -> Result<mcp::Answer, Broken> {
        // The envelope is JSON, so it cannot carry bytes that are not UTF-8; replacing them would change the line.
        let Ok(text) = std::str::from_utf8(line) else {
            return Ok(mcp::Answer { line: Some(not_utf8()), ..mcp::Answer::default() });
        };
        let mut reply = Err(asks_on());
        for attempt in 0..=limits::ENV_QUESTIONS_MAX {
            wishes.fill(envelope, attempt);
            let params = json!({ "line": text, "follows": true, "subscriptions": subscriptions });
            match self.exchange("rekindle/mcp", params, Some((envelope, notify))).await? {
                Answer::AsksEnv(asked) => *wishes = EnvWishes(asked),
                Answer::Reply(answer) => {
                    reply = answer;
                    break;
                }
            }
        }
        let text_of = |value: &Value| value.as_str().map(str::to_owned);
        Ok(match reply {
            Ok(mut answer) => mcp::Answer {
                line: text_of(&answer["line"]),
                revision: text_of(&answer["revision"]),
                changes: serde_json::from_value(answer["changes"].take()).unwrap_or_default(),
            },
            Err(error) => mcp::Answer { line: failure(line, &error), ..mcp::Answer::default() },
        })
    }

    async fn exchange(
        &mut self,
        method: &str,
        params: Value,
        mcp: Option<(&Envelope, &Option<mpsc::Sender<String>>)>,
    ) -> Result<Answer, Broken> {
        let mut frame = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        if let Some((envelope, _)) = mcp {
            frame["rekindle"] = json!(envelope);
        }
        let mut text = frame.to_string();
        text.push('\n');
        let deadline =
            if mcp.is_some() { limits::FORWARD_DEADLINE } else { limits::HELLO_DEADLINE };
        loop {
            let mut line = Vec::new();
            let round = async {
                self.writer.write_all(std::mem::take(&mut text).as_bytes()).await?;
                read_line(&mut self.reader, &mut line).await
            };
            match tokio::time::timeout(deadline, round).await {
                Err(_) => return Err(Broken::Hangs),
                Ok(Ok(true)) => {}
                Ok(Ok(false) | Err(_)) => return Err(Broken::Lost),
            }
            let frame: Value = serde_json::from_slice(&line).map_err(|_| Broken::Lost)?;
            if frame.get("method").is_none() {
                return Ok(Answer::read(frame));
            }
            // The PRIMARY still works on the line; perhaps it has something for our client.
            let line = frame["params"]["line"].as_str().map(str::to_owned);
            if let (Some(line), Some((_, Some(notify)))) = (line, mcp) {
                // A client that does not read misses progress.
                let _ = notify.try_send(line);
            }
        }
    }
}

/// An MCP error for a request that could not be forwarded; notifications get none.
fn failure(line: &[u8], error: &OpError) -> Option<String> {
    let RpcFrame::One(request) = rpc::parse(line).ok()? else { return None };
    let id = request.id?;
    Some(json!({ "jsonrpc": "2.0", "id": id, "error": error.to_wire() }).to_string())
}

/// The answer to a line that is not UTF-8; a PRIMARY gives the same one.
fn not_utf8() -> String {
    let error = json!({ "code": -32700, "message": "the message is not JSON: it is not UTF-8" });
    json!({ "jsonrpc": "2.0", "id": null, "error": error }).to_string()
}

/// Discards the rest of a line over the size limit.
async fn skip_line<R: AsyncBufRead + Unpin>(reader: &mut R) {
    use tokio::io::AsyncBufReadExt as _;
    loop {
        let Ok(available) = reader.fill_buf().await else { return };
        if available.is_empty() {
            return;
        }
        let newline = available.iter().position(|byte| *byte == b'\n');
        let taken = newline.map_or(available.len(), |at| at + 1);
        reader.consume(taken);
        if newline.is_some() {
            return;
        }
    }
}

/// Waits for an answer and writes its notifications, and updates of resources, to stdout meanwhile.
async fn with_notifications<T>(
    answer: impl Future<Output = T>,
    notifications: mpsc::Receiver<String>,
    live: &mut LiveUpdates,
) -> T {
    let mut answer = Notifying::new(answer, notifications);
    loop {
        let lines = tokio::select! {
            next = answer.next() => match next {
                Notified::Line(line) => vec![line],
                Notified::Result(answer) => return answer,
            },
            lines = live.lines() => lines,
        };
        for line in lines {
            // A lost stdout is noticed with the reply.
            let _ = write_stdout(&line).await;
        }
    }
}

async fn write_stdout(line: &str) -> io::Result<()> {
    let mut out = tokio::io::stdout();
    out.write_all(line.as_bytes()).await?;
    out.write_all(b"\n").await?;
    out.flush().await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn frames_of_a_primary_that_still_works_are_not_taken_for_its_answer() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let (reader, writer) = ours.into_split();
        let mut remote = Remote { reader: BufReader::new(reader), writer };
        let primary = runtime::tasks::spawn("test", async move {
            let (reader, mut writer) = theirs.into_split();
            let mut asked = Vec::new();
            assert!(read_line(&mut BufReader::new(reader), &mut asked).await.unwrap());
            let frame = |params: Value| json!({ "method": "rekindle/mcp", "params": params });
            for frame in [
                frame(json!({})),
                frame(json!({ "line": "a notification" })),
                frame(json!({})),
                json!({ "id": 1, "result": { "line": "the reply", "revision": null } }),
            ] {
                writer.write_all(format!("{frame}\n").as_bytes()).await.unwrap();
            }
            serde_json::from_slice::<Value>(&asked).unwrap()
        });
        let (notify, mut notifications) = mpsc::channel(4);
        let mut envelope = Envelope {
            call: client::mint(),
            caller: Caller::default(),
            db: None,
            revision: None,
            tools: None,
            env_stamp: None,
        };
        let mut wishes = EnvWishes::default();
        let answer = remote.forward((b"{}", 0), &mut envelope, &mut wishes, &Some(notify)).await;
        let Ok(answer) = answer else { panic!("no answer") };
        assert_eq!(answer.line.as_deref(), Some("the reply"));
        assert_eq!(notifications.try_recv().unwrap(), "a notification");
        assert!(notifications.try_recv().is_err());
        assert_eq!(primary.await.unwrap()["params"]["follows"], json!(true));
    }
}
