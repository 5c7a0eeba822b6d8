// Signs the requests of the page. A one-time link gives this browser a key, which the page keeps in the storage
// of its origin, where scripts can use it but not export it. Each request is signed with it.

const PURPOSE = "rekindle-proof-1";

const CHALLENGE_MS = 8000;

const text = new TextEncoder();

const hex = (bytes) => Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");

const fromHex = (digits) => Uint8Array.from(digits.match(/../g) ?? [], (pair) => parseInt(pair, 16));

/** Runs a request on the key store and returns its result. */
async function keys(mode, ask) {
  const database = await new Promise((resolve, reject) => {
    const opening = indexedDB.open("rekindle", 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore("keys");
    opening.onsuccess = () => resolve(opening.result);
    opening.onerror = () => reject(opening.error);
  });
  try {
    return await new Promise((resolve, reject) => {
      const transaction = database.transaction("keys", mode);
      const asked = ask(transaction.objectStore("keys"));
      transaction.oncomplete = () => resolve(asked.result);
      transaction.onerror = transaction.onabort = () => reject(transaction.error);
    });
  } finally {
    database.close();
  }
}

/**
 * The id of the database whose content this page shows. While its daemon is gone, the daemon of another database may take
 * the port: what it answers does not belong here.
 */
let database = null;

/** The daemon at this address serves another database than the one that the page shows. */
export class OtherDatabase extends Error {}

function check(id) {
  if (id && id !== (database ??= id)) throw new OtherDatabase("The daemon of another database answers.");
}

/** Requests a challenge from the daemon, and with the code of a link also the key. */
async function askChallenge(body) {
  const response = await fetch("/challenge", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
    // Everything waits for a challenge; one that never comes must not hold the page for good.
    signal: AbortSignal.timeout(CHALLENGE_MS),
  });
  if (response.ok) {
    const given = await response.json();
    check(given.id);
    return given;
  }
  // A refusal does not say which database it is of. Only that of our own means that this browser was forgotten.
  if (database) check((await (await fetch("/health", { signal: AbortSignal.timeout(CHALLENGE_MS) })).json()).database);
  return null;
}

/** Removes the code of a one-time link from the address bar and fetches the key. Returns whether it got one. */
export async function pickUpKey() {
  const code = new URLSearchParams(location.hash.slice(1)).get("open");
  if (!code) return false;
  history.replaceState(null, "", location.pathname + location.search);
  const given = await askChallenge({ code });
  if (!given?.key) return false;
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", fromHex(given.key), algorithm, false, ["sign"]);
  await keys("readwrite", (store) => store.put(key, given.id));
  return true;
}

/** The current challenge: the daemon's random text, our key, and the counter. */
let current = null;

async function begin() {
  const given = await askChallenge({});
  if (!given) return null;
  if (given.challenge === null) return { open: true };
  const key = await keys("readonly", (store) => store.get(given.id));
  return key ? { challenge: given.challenge, key, counter: 0 } : null;
}

/** The proof for one request; an empty text if the daemon requires none, null without a key. */
export async function proof(method, target, body) {
  const asked = (current ??= begin());
  let state = null;
  try {
    state = await asked;
  } finally {
    // A daemon that does not respond now may do so at the next request.
    if (!state && current === asked) current = null;
  }
  if (!state) return null;
  if (state.open) return "";
  state.counter += 1;
  const start = `${state.challenge}.${state.counter}`;
  const digest = hex(await crypto.subtle.digest("SHA-256", text.encode(body)));
  const signed = [PURPOSE, ...start.split("."), method, target, digest].join("\n");
  return `${start}.${digest}.${hex(await crypto.subtle.sign("HMAC", state.key, text.encode(signed)))}`;
}

/** This browser has no key for the daemon, or the daemon has forgotten it. */
export class SignedOut extends Error {}

/** Forgets the current challenge: a restarted daemon has new ones. */
export function renew() {
  current = null;
}

/** Posts JSON with a proof. A restarted daemon has new challenges, so a refusal is retried once. */
export async function post(target, body, { signal } = {}) {
  for (let attempt = 0; ; attempt += 1) {
    const proved = await proof("POST", target, body);
    if (proved === null) throw new SignedOut("This browser has no key. For a new link run: rekindle web");
    const headers = { "Content-Type": "application/json" };
    if (proved) headers["Rekindle-Proof"] = proved;
    const response = await fetch(target, { method: "POST", headers, body, signal });
    if (response.status !== 401 || attempt > 0) return response;
    current = null;
  }
}
