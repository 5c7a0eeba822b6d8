// Calls operations of the daemon over JSON-RPC.

import { setClock } from "/format.js";
import { post, SignedOut } from "/session.js";

/** An error that the daemon answered, or that the call did not arrive. */
export class ApiError extends Error {
  /** @param {string} code @param {string} message @param {string} [hint] */
  constructor(code, message, hint) {
    super(message);
    this.code = code;
    this.hint = hint;
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

let lastId = 0;

/**
 * Calls an operation and returns its result.
 * @param {string} method
 * @param {object} [params]
 * @param {{ signal?: AbortSignal }} [options]
 */
export async function call(method, params = {}, { signal } = {}) {
  lastId += 1;
  const body = JSON.stringify({ jsonrpc: "2.0", id: lastId, method, params });
  let answer;
  try {
    const response = await post("/rpc", body, { signal });
    const date = Date.parse(response.headers.get("Date"));
    if (date) setClock(date);
    if (response.status === 401) throw new SignedOut();
    answer = await response.json();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    if (error instanceof SignedOut) {
      document.dispatchEvent(new CustomEvent("rekindle:signed-out"));
      throw new ApiError("unauthenticated", SIGNED_OUT, "For a new link run: rekindle web");
    }
    throw new ApiError("gone", GONE, "Start it with: rekindle up");
  }
  signal?.throwIfAborted();
  if (answer.error) {
    const { code, message, data } = answer.error;
    throw new ApiError(CODES[code] ?? String(code), message, data?.hint);
  }
  return answer.result;
}

/** Whether an exception only says that the view was closed. */
export const isAborted = (error) => error?.name === "AbortError";
