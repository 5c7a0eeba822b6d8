//! The SDK's server handler: the server's info, and each method we declare. Methods of capabilities
//! that are not declared are unknown, even if the SDK has an empty default answer for them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use model::{OpError, Reply, Request};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientRequest, CompleteRequestMethod,
    CompleteRequestParams, CompleteResult, CustomRequest, CustomResult, ErrorCode, Implementation,
    InitializeRequestParams, InitializeResult, ListPromptsRequestMethod, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, RequestId,
    ServerCapabilities, ServerConfig, SubscriptionFilter,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use runtime::Runtime;
use runtime::entry_updates::EntryUpdates;
use serde_json::{Value, json};

use crate::errors::protocol_error;
use crate::instructions::server_instructions;
use crate::progress::Progress;
use crate::subscriptions::Changed;
use crate::tools::{self, ErrorText, Tools};
use crate::{Peer, inert, resources, subscriptions, wording};

/// Methods that the modern revision has removed; there they are unknown, whatever they carry.
const REMOVED: [&str; 2] = ["initialize", "ping"];
/// Methods we answer: if their parameters are unreadable, the error is about these and not about the method.
const ANSWERED: [&str; 8] = [
    "initialize",
    "ping",
    "resources/list",
    "resources/read",
    "resources/templates/list",
    "server/discover",
    "tools/call",
    "tools/list",
];

/// Methods that are answered for clients whose surface keeps their subscriptions.
const SUBSCRIBING: [&str; 2] = ["resources/subscribe", "resources/unsubscribe"];
/// The member of `_meta` with the id that Claude Code's hooks have for a call.
const TOOL_USE_ID: &str = "claudecode/toolUseId";
/// The method of the modern revision for subscriptions.
const LISTEN: &str = "subscriptions/listen";

/// The runtime as the SDK's handler. Cheap to clone: the SDK wants a new one for every request.
#[derive(Clone)]
pub(crate) struct Handler {
    runtime: Runtime,
    tools: Arc<Tools>,
    instructions: Arc<str>,
    /// The updates for the one stream of this request. They begin before the stream is acknowledged, so that none
    /// is missed after that.
    prepared: Arc<Mutex<Option<EntryUpdates>>>,
}

impl Handler {
    pub(crate) fn new(runtime: Runtime) -> Handler {
        let instructions = server_instructions(runtime.table()).into();
        Handler { runtime, tools: Arc::default(), instructions, prepared: Arc::default() }
    }

    /// A handler for one HTTP request, whose prepared updates no other request shares.
    pub(crate) fn for_request(&self) -> Handler {
        Handler { prepared: Arc::default(), ..self.clone() }
    }

    fn prepared(&self) -> MutexGuard<'_, Option<EntryUpdates>> {
        self.prepared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers a request that changes the subscriptions of a client with `count` of them; `None` for other requests.
    pub(crate) fn change_subscriptions(
        &self,
        request: &ClientRequest,
        id: &RequestId,
        count: usize,
    ) -> Option<Result<Changed, OpError>> {
        subscriptions::answer(&self.runtime, request, id, count)
    }

    /// `too_large` for a message that took more bytes than the tool it calls may use.
    pub(crate) fn check_size(&self, message: &Value, bytes: usize) -> Result<(), OpError> {
        let params = message.get("params").filter(|_| message["method"] == "tools/call");
        let tool = params.and_then(|params| params.get("name")?.as_str()).unwrap_or_default();
        self.runtime.table().check_size(tool, bytes)
    }

    /// Runs an operation and neutralises its reply. Every reply that reaches a model comes from here.
    async fn call(&self, context: &RequestContext<RoleServer>, op: &str, params: Value) -> Reply {
        let from = sender(context)?;
        let mut caller = from.caller.clone();
        if let Some(session) = self.session_of_call(context) {
            caller.session = Some(session);
        }
        let request = Request { call: from.call, op: op.to_owned(), params, caller };
        let progress = Progress::of(&context.meta, from.notify.as_ref());
        let watcher = progress.as_ref().map(Progress::watcher);
        let reply = self.runtime.call_watched(request, watcher).await;
        drop(progress);
        inert::reply(reply.map_err(|error| wording::for_models(self.runtime.table(), error)))
    }

    /// The session in which Claude Code makes this call, if its hook reported the call. The caller's own may be out of
    /// date: `/clear` begins a new session, and the server's process goes on.
    fn session_of_call(&self, context: &RequestContext<RoleServer>) -> Option<String> {
        let id = context.meta.get(TOOL_USE_ID)?.as_str()?;
        self.runtime.session_of_tool_call(id)
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_resources_subscribe()
            .build();
        ServerConfig::new(capabilities)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
            .with_server_info(
                Implementation::new("rekindle", env!("CARGO_PKG_VERSION")).with_title("Rekindle"),
            )
            .with_instructions(&*self.instructions)
    }

    /// Agrees on a revision of the protocol and does not store it: the surface passes the revision along with later
    /// messages. Subscriptions are declared only if the surface keeps them.
    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let mut result = self.negotiate_initialize(&request)?;
        let keeps = sender(&context).is_ok_and(|from| from.subscriptions.is_some());
        if let Some(resources) = result.capabilities.resources.as_mut().filter(|_| !keeps) {
            resources.subscribe = None;
        }
        Ok(result)
    }

    /// The resources that can be watched. All other notifications are declined: there are none.
    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        let accepted = subscriptions::accepted(&self.runtime, requested);
        let mut updates = self.runtime.entry_updates();
        updates.watch(accepted.resource_subscriptions.iter().flatten().map(String::as_str));
        *self.prepared() = Some(updates);
        Some(accepted)
    }

    /// Reports updates on a stream of `/mcp` until its client leaves.
    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let prepared = self.prepared().take();
        let Some(mut updates) = prepared else { return Ok(()) };
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                updated = updates.next() => {
                    let Some(uri) = updated else {
                        return Err(ErrorData::internal_error(updates.reason(), None));
                    };
                    if context.sink().notify_resource_updated(uri).await.is_err() {
                        return Ok(());
                    }
                }
            }
        }
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        check_cursor(request)?;
        let asked = sender(&context).map_err(|error| protocol_error(&error))?.tools.as_str();
        let configured = self.runtime.config().text("mcp.tools");
        let toolsets = if asked.is_empty() { configured } else { asked };
        let tools = self.tools.list(self.runtime.table(), toolsets);
        Ok(ListToolsResult::with_all_items(tools.map_err(|error| protocol_error(&error))?))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let params = request.arguments.map_or(Value::Null, Value::Object);
        let info = self.runtime.table().find(&request.name).map(|op| op.info);
        let (brief, text) = info.map_or((None, None), |info| (info.brief, info.text));
        let asked = if brief.is_some() || text.is_some() { params.clone() } else { Value::Null };
        let mut reply = self.call(&context, &request.name, params).await;
        let mut written = None;
        if let Ok(result) = &mut reply {
            // Neutralised again: the parameters in it never were, and harmless words may form markup when joined.
            written = text.map(|text| inert::line(text(&asked, result)));
            if let Some(brief) = brief {
                brief(&asked, result);
            }
        }
        let errors = info.map(ErrorText::of).unwrap_or_default();
        Ok(tools::result(reply, written, errors)?.into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        check_cursor(request)?;
        let listing = self.call(&context, resources::LIST, json!({})).await;
        let listing = listing.map_err(|error| protocol_error(&error))?;
        Ok(ListResourcesResult::with_all_items(resources::resources(listing)?))
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        check_cursor(request)?;
        let listing = self.call(&context, resources::LIST, json!({})).await;
        let listing = listing.map_err(|error| protocol_error(&error))?;
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates(listing)?))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri;
        let answer = self.call(&context, resources::READ, json!({ "path": uri })).await;
        let answer = answer.map_err(|error| resources::unreadable(&uri, &error))?;
        Ok(resources::contents(&uri, answer)?.into())
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListPromptsRequestMethod>())
    }

    async fn complete(
        &self,
        _request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Err(ErrorData::method_not_found::<CompleteRequestMethod>())
    }

    /// Requests that the SDK could not parse: unknown methods, and known ones with bad parameters.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let CustomRequest { method, params, .. } = request;
        // Errors repeat the method.
        let method = inert::line(method);
        let modern = context.meta.protocol_version().is_some_and(|v| !v.has_initialize());
        let keeps = sender(&context).is_ok_and(|from| from.subscriptions.is_some());
        let answered = ANSWERED.contains(&method.as_str())
            || (keeps && !modern && SUBSCRIBING.contains(&method.as_str()))
            || (modern && method == LISTEN);
        if !answered || (modern && REMOVED.contains(&method.as_str())) {
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None));
        }
        let arguments = params.as_ref().and_then(|params| {
            let named = params.get("name").is_some_and(Value::is_string);
            params.get("arguments").filter(|_| named && method == "tools/call")
        });
        match arguments {
            // The model wrote these, so the model has to read what is wrong with them.
            Some(arguments) if !arguments.is_object() => {
                let tool = params.as_ref().and_then(|params| params["name"].as_str());
                let op = tool.and_then(|name| self.runtime.table().find(name));
                let errors = op.map(|op| ErrorText::of(op.info)).unwrap_or_default();
                bad_arguments(errors, modern).map(CustomResult::new)
            }
            _ => Err(ErrorData::invalid_params(
                format!("the parameters of {method} are missing or of the wrong form"),
                None,
            )),
        }
    }
}

/// The sender of the message: `message` inserts it, or `http` does as part of the HTTP request.
fn sender(context: &RequestContext<RoleServer>) -> Result<&Peer, OpError> {
    let extensions = &context.extensions;
    let of_http = || extensions.get::<::http::request::Parts>()?.extensions.get::<Peer>();
    extensions
        .get::<Peer>()
        .or_else(of_http)
        .ok_or_else(|| OpError::internal("the message has no sender"))
}

/// Lists come in one piece, so there is no cursor that could have come from us.
fn check_cursor(request: Option<PaginatedRequestParams>) -> Result<(), ErrorData> {
    match request.and_then(|request| request.cursor) {
        Some(cursor) if !cursor.is_empty() => {
            Err(ErrorData::invalid_params("unknown cursor: every list here has one page", None))
        }
        _ => Ok(()),
    }
}

fn bad_arguments(errors: ErrorText, modern: bool) -> Result<Value, ErrorData> {
    let error = OpError::invalid("arguments", "the arguments are not an object")
        .hint("Pass the parameters by name, as a JSON object.");
    let mut result: CallToolResult = tools::result(Err(error), None, errors)?;
    if !modern {
        result.result_type = None;
    }
    serde_json::to_value(result).map_err(|error| ErrorData::internal_error(error.to_string(), None))
}
