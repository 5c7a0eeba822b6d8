// The tab's one WebSocket: feeds of new records and changed contexts, and the state of the connection.

import { OtherDatabase, proof, renew, SignedOut } from "/session.js";

/** A subscription request and the method of its messages. */
const MESSAGES = {
  "activity/subscribe": "activity/new",
  "session/subscribe": "session/event",
  "events/subscribe": "event",
};

const PAUSES_MS = [250, 500, 1000, 2000, 3000, 5000];

/** Browsers do not say that the network or the daemon is frozen; a call that gets no reply in this time does. */
const REPLY_MS = 5000;

/** With the time for a reply, a visible page says within ten seconds that the daemon hangs. A hidden one saves power. */
const PING_MS = 5000;
const HIDDEN_PING_MS = 20_000;

/** @type {Set<{ method: string, params: () => object, onMessage: (message: object) => void, isConfirmed?: boolean }>} */
const feeds = new Set();

/** Subscriptions that the daemon has not confirmed, by the id of the request. Messages before are of an earlier one. */
const unconfirmed = new Map();
const listeners = new Set();
const stateListeners = new Set();

let socket = null;
let attempts = 0;
let timer = 0;
let lastId = 0;
let lastHeard = 0;
let lastPing = 0;
let state = { connected: false, since: Date.now(), signedOut: false, isOther: false, ever: false };

function setState(connected, { signedOut = false, isOther = false } = {}) {
  if (state.connected === connected && state.signedOut === signedOut && state.isOther === isOther && state.ever) return;
  const changed = state.connected !== connected;
  state = { connected, since: changed ? Date.now() : state.since, signedOut, isOther, ever: state.ever || connected };
  for (const callback of stateListeners) callback(state);
}

/** The state of the connection: whether it is open, since when, and whether another database has the address (`isOther`). */
export const connection = () => state;

/** Calls back at each change of the state of the connection. Returns a function that ends this. */
export function onState(callback) {
  stateListeners.add(callback);
  return () => stateListeners.delete(callback);
}

/** Calls back for each notification of a method that needs no subscription, as `session/list_changed`. */
export function onNotification(method, callback) {
  const listener = { method, callback };
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/**
 * Subscribes to a feed. After a reconnect it subscribes again; a function as `params` then says from where.
 * @param {"activity/subscribe" | "session/subscribe" | "events/subscribe"} method
 * @param {object | (() => object)} params
 * @param {(message: object) => void} onMessage
 * @returns {() => void} ends the subscription
 */
export function subscribe(method, params, onMessage) {
  const feed = { method, params: typeof params === "function" ? params : () => params, onMessage };
  feeds.add(feed);
  ask(feed);
  return () => {
    if (!feeds.delete(feed)) return;
    const filters = filtersOf(feed);
    // Equal feeds, as those of the footer and the view of a session, are one subscription of the daemon.
    const isShared = [...feeds].some((other) => other.method === method && isOf(other, filters));
    if (!isShared) send(method.replace("/subscribe", "/unsubscribe"), filters);
  };
}

/** The filters of a feed, by which the daemon knows its subscription: without the point from where it started. */
function filtersOf(feed) {
  const { after_id: _, ...filters } = JSON.parse(JSON.stringify(feed.params()));
  return filters;
}

/** Whether a message with these filters is of a subscription of this feed. */
function isOf(feed, filters) {
  const asked = filtersOf(feed);
  const names = Object.keys(asked);
  return names.length === Object.keys(filters).length && names.every((name) => asked[name] === filters[name]);
}

function send(method, params) {
  if (socket?.readyState !== WebSocket.OPEN) return;
  lastId += 1;
  socket.send(JSON.stringify({ jsonrpc: "2.0", id: lastId, method, params }));
}

function ask(feed) {
  feed.isConfirmed = false;
  send(feed.method, feed.params());
  unconfirmed.set(lastId, feed);
}

function receive(text) {
  lastHeard = Date.now();
  const message = JSON.parse(text);
  if (!message.method) {
    const feed = unconfirmed.get(message.id);
    if (feed) feed.isConfirmed = true;
    unconfirmed.delete(message.id);
    return;
  }
  for (const feed of [...feeds]) {
    if (MESSAGES[feed.method] !== message.method || !feed.isConfirmed) continue;
    const wanted = feed.params().session_id;
    // Messages about a context name their session; another one's may still be on its way.
    if (message.params.sessionId && wanted && message.params.sessionId !== wanted) continue;
    if (message.params.filters && !isOf(feed, message.params.filters)) continue;
    feed.onMessage(message.params);
  }
  for (const { method, callback } of [...listeners]) {
    if (method === message.method) callback(message.params);
  }
}

async function connect() {
  clearTimeout(timer);
  let offered = [];
  try {
    const proved = await proof("GET", "/ws", "");
    if (proved === null) throw new SignedOut();
    offered = proved ? ["rekindle", `proof.${proved}`] : ["rekindle"];
  } catch (error) {
    renew();
    setState(false, { signedOut: error instanceof SignedOut, isOther: error instanceof OtherDatabase });
    retry();
    return;
  }
  const opened = new WebSocket(`ws://${location.host}/ws`, offered);
  socket = opened;
  let open = false;
  opened.onopen = () => {
    open = true;
    attempts = 0;
    lastHeard = Date.now();
    unconfirmed.clear();
    for (const feed of feeds) ask(feed);
    setState(true);
  };
  opened.onmessage = (event) => receive(event.data);
  opened.onclose = () => {
    if (socket !== opened) return;
    socket = null;
    // A refused handshake means that the daemon has new challenges.
    if (!open) renew();
    setState(false, state);
    retry();
  };
}

function retry() {
  const pause = PAUSES_MS[Math.min(attempts, PAUSES_MS.length - 1)];
  attempts += 1;
  clearTimeout(timer);
  timer = setTimeout(connect, pause);
}

/** Drops a connection that looks open but is dead, for example after the computer slept. */
function check() {
  if (socket?.readyState !== WebSocket.OPEN) return;
  const asked = Date.now();
  lastPing = asked;
  send("ping", {});
  const checked = socket;
  setTimeout(() => {
    if (socket !== checked || lastHeard >= asked) return;
    socket = null;
    checked.onclose = null;
    checked.close();
    renew();
    setState(false);
    retry();
  }, REPLY_MS);
}

/** The window is visible again, or the network is back: connects now if it is not, and checks the connection if it is. */
function wake() {
  if (socket?.readyState !== WebSocket.OPEN && timer && attempts > 1) {
    attempts = 0;
    clearTimeout(timer);
    connect();
  } else {
    check();
  }
}

/** Ends the connection after the daemon refused this browser; a new link in another tab brings it back. */
export function signedOut() {
  const open = socket;
  socket = null;
  if (open) open.onclose = null;
  open?.close();
  renew();
  setState(false, { signedOut: true });
  retry();
}

/** Opens the connection and keeps it open. */
export function start() {
  connect();
  setInterval(() => {
    if (!document.hidden || Date.now() - lastPing >= HIDDEN_PING_MS) check();
  }, PING_MS);
  document.addEventListener("visibilitychange", () => document.hidden || wake());
  addEventListener("online", wake);
}
