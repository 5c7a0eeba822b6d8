// Calls operations of the daemon over JSON-RPC.

import { setClock } from "/format.js";
import { post, SignedOut } from "/session.js";

/** An error that the daemon answered, or that the call did not arrive. */
export class ApiError extends Error {
  /** @param {string} code @param {string} message @param {string} [hint] @param {string} [param] the refused parameter */
  constructor(code, message, hint, param) {
    super(message);
    this.code = code;
    this.hint = hint;
    this.param = param;
  }
}

const CODES = {
  40001: "invalid",
  40002: "secret_rejected",
  40003: "scope_invalid",
  40101: "unauthenticated",
  40301: "forbidden",
  40401: "not_found",
  40901: "conflict",
  40902: "not_ready",
  41301: "too_large",
  42901: "quota",
  50401: "timeout",
  50301: "unavailable",
  50001: "internal",
};

const GONE = "The daemon does not respond.";
const SIGNED_OUT = "This browser is not signed in.";

/** A reply that is not there after this time counts as lost. A deletion of many records may take minutes. */
const DEADLINE_MS = 30_000;
const DELETION_MS = 600_000;

let lastId = 0;

/** A signal that ends a call when the view is closed, or after the deadline. */
function deadline(params, signal) {
  const ended = new AbortController();
  const ms = params.confirm ? DELETION_MS : DEADLINE_MS;
  const late = () => ended.abort(new ApiError("late", `The daemon did not reply within ${ms / 1000} seconds.`, "Try again."));
  const timer = setTimeout(late, ms);
  const close = () => ended.abort(signal.reason);
  if (signal?.aborted) close();
  signal?.addEventListener("abort", close, { once: true });
  const done = () => {
    clearTimeout(timer);
    signal?.removeEventListener("abort", close);
  };
  return { ended: ended.signal, done };
}

/**
 * Calls an operation and returns its result.
 * @param {string} method
 * @param {object} [params]
 * @param {{ signal?: AbortSignal }} [options]
 */
export async function call(method, params = {}, { signal } = {}) {
  lastId += 1;
  const body = JSON.stringify({ jsonrpc: "2.0", id: lastId, method, params });
  const { ended, done } = deadline(params, signal);
  let answer;
  try {
    const response = await post("/rpc", body, { signal: ended });
    const date = Date.parse(response.headers.get("Date"));
    if (date) setClock(date);
    if (response.status === 401) throw new SignedOut();
    answer = await response.json();
  } catch (error) {
    if (error.name === "AbortError" || error instanceof ApiError) throw error;
    if (error instanceof SignedOut) {
      document.dispatchEvent(new CustomEvent("rekindle:signed-out"));
      throw new ApiError("unauthenticated", SIGNED_OUT, "Run `rekindle web --open` in a terminal; it opens the page signed in.");
    }
    throw new ApiError("gone", GONE, "Start it with `rekindle up`; the view is read again when it is back.");
  } finally {
    done();
  }
  signal?.throwIfAborted();
  if (answer.error) {
    const { code, message, data } = answer.error;
    throw new ApiError(CODES[code] ?? String(code), message, data?.hint, data?.param);
  }
  return answer.result;
}

/** Whether an exception only says that the view was closed. */
export const isAborted = (error) => error?.name === "AbortError";
