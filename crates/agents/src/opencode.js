// Rekindle for OpenCode: tells the rekindle command what happens in a session, and hands the model what it
// has to say. Written by `rekindle install opencode`, removed by `rekindle uninstall opencode`.
// Whatever goes wrong in here stays in here: OpenCode goes on as if this file were not there.

import { spawn } from "node:child_process"

const COMMAND = "rekindle"

// How long OpenCode waits for an answer, in milliseconds. The command has shorter deadlines of its own, after
// which it keeps the event for later; so what it was told is safe even if nobody waits for it.
const PATIENCE = 1000
const PATIENCE_AT_START = 3000
const KILLED_AFTER = 10000

// When this process began.
const BEGUN = Math.round(performance.timeOrigin).toString(36)

// One event to the command; what it answers, or nothing.
function call(event, members, patience) {
  return new Promise((resolve) => {
    let said = ""
    let child
    const leave = () => {
      // It may end by itself, but OpenCode need not stay for it.
      const kill = setTimeout(() => child?.kill("SIGKILL"), KILLED_AFTER)
      for (const part of [child, child?.stdin, child?.stdout, kill]) part?.unref?.()
      resolve()
    }
    const timer = setTimeout(leave, patience)
    const end = () => {
      clearTimeout(timer)
      resolve(textOf(said))
    }
    try {
      const args = ["hook", event, "--agent", "opencode"]
      child = spawn(COMMAND, args, { stdio: ["pipe", "pipe", "ignore"] })
      child.on("error", end)
      child.on("close", end)
      child.stdin.on("error", () => {})
      child.stdout.setEncoding("utf8")
      child.stdout.on("data", (part) => (said += part))
      child.stdin.end(JSON.stringify(members))
    } catch {
      end()
    }
  })
}

function textOf(answer) {
  try {
    return JSON.parse(answer).additional_context
  } catch {
    return undefined
  }
}

// A hook that never throws.
function quiet(hook) {
  return async (...args) => {
    try {
      await hook(...args)
    } catch {
      // There is nobody to tell.
    }
  }
}

export const Rekindle = async ({ directory }) => {
  // Whom a subagent's session works for.
  const parents = new Map()
  // What each session was told when it started, and since then outside of a tool's result.
  const briefings = new Map()
  const notes = new Map()
  // How often the id of a tool call has come, and what is to be told beside the result of which.
  const uses = new Map()
  // The text parts of each session's newest message of the assistant.
  const answers = new Map()
  const hints = new Map()
  let last = Promise.resolve()

  // Events go out one after the other, in the order in which they happened.
  const send = (event, session, members, patience = PATIENCE) => {
    const parent = parents.get(session)
    const who = parent ? { session_id: parent, agent_id: session } : { session_id: session }
    const line = { hook_event_name: event, cwd: directory, ...who, ...members }
    last = last.then(() => call(event, line, patience))
    return last
  }

  // Some models number their calls anew with every answer. What is sent twice (this file may be loaded twice)
  // has to have the same id twice, and nothing else has.
  const use = (session, call, isNew = false) => {
    const key = parents.has(session) ? `${session}/${call}` : call
    if (isNew) uses.set(key, (uses.get(key) ?? 0) + 1)
    return `${key}~${BEGUN}.${uses.get(key) ?? 1}`
  }

  const start = (session, source) => {
    if (!briefings.has(session)) {
      briefings.set(session, send("session.created", session, { source }, PATIENCE_AT_START))
    }
    return briefings.get(session)
  }

  const note = (session, text) => {
    if (text) notes.set(session, [...(notes.get(session) ?? []), text])
  }

  const failed = async ({ sessionID, callID, tool, state }) => {
    const id = use(sessionID, callID)
    const text = await send("message.part.updated", sessionID, {
      tool_name: tool,
      tool_use_id: id,
      tool_input: state.input,
      error: state.error,
      is_interrupt: state.error === "Tool execution aborted",
    })
    note(sessionID, text)
    note(sessionID, hints.get(id))
    hints.delete(id)
  }

  const compacted = async (session) => {
    const before = await briefings.get(session)
    const after = send("session.compacted", session, { source: "compact" }, PATIENCE_AT_START)
    briefings.set(session, after.then((text) => text ?? before))
    notes.delete(session)
    await after
  }

  // The agent's final message: the text parts of its newest message, in their order.
  const hear = ({ sessionID, messageID, id, type, text, synthetic, ignored }) => {
    if (type !== "text" || synthetic || ignored || !answers.has(sessionID)) return
    const answer = answers.get(sessionID)
    if (answer.message === messageID) answer.parts.set(id, text)
  }

  const answered = (session) => {
    const parts = answers.get(session)?.parts.values() ?? []
    answers.delete(session)
    return { last_assistant_message: [...parts].join("\n\n") || undefined }
  }

  const deleted = async (session) => {
    const isRoot = !parents.delete(session)
    answers.delete(session)
    briefings.delete(session)
    notes.delete(session)
    if (isRoot) await send("session.deleted", session, { reason: "deleted" })
  }

  return {
    event: quiet(async ({ event }) => {
      const about = event.properties ?? {}
      const session = about.sessionID ?? about.info?.id
      if (event.type === "session.created") {
        const parent = about.info.parentID
        if (parent) parents.set(session, parents.get(parent) ?? parent)
        else await start(session, "startup")
      } else if (event.type === "session.compacted") {
        if (!parents.has(session)) await compacted(session)
      } else if (event.type === "session.idle") {
        if (!parents.has(session)) await send("session.idle", session, answered(session))
      } else if (event.type === "session.deleted") {
        await deleted(session)
      } else if (event.type === "message.part.updated") {
        const part = about.part
        hear(part)
        if (part.type === "tool" && part.state.status === "error") await failed(part)
      } else if (event.type === "message.updated" && about.info.role === "assistant") {
        const { id, sessionID } = about.info
        if (answers.get(sessionID)?.message !== id) answers.set(sessionID, { message: id, parts: new Map() })
      }
    }),

    "chat.message": quiet(async ({ sessionID }, { message, parts }) => {
      // What a subagent is asked, no user wrote.
      if (parents.has(sessionID)) return
      // One that is not known yet was begun by an earlier process.
      await start(sessionID, "resume")
      const own = parts.filter((part) => part.type === "text" && !part.synthetic && !part.ignored)
      const prompt = own.map((part) => part.text).join("\n")
      if (prompt) note(sessionID, await send("chat.message", sessionID, { prompt, prompt_id: message?.id }))
    }),

    "tool.execute.before": quiet(async ({ tool, sessionID, callID }, { args }) => {
      const id = use(sessionID, callID, true)
      const members = { tool_name: tool, tool_use_id: id, tool_input: args }
      const text = await send("tool.execute.before", sessionID, members)
      if (text) hints.set(id, text)
    }),

    // A tool of a server answers with a list of contents, all others with a text.
    "tool.execute.after": quiet(async ({ tool, sessionID, callID, args }, result) => {
      const { output, content, isError, metadata } = result
      const response = { output, content, isError, exit_code: metadata?.exit }
      const id = use(sessionID, callID)
      const members = { tool_name: tool, tool_use_id: id, tool_input: args, tool_response: response }
      const text = await send("tool.execute.after", sessionID, members)
      const told = [hints.get(id), text].filter(Boolean).join("\n\n")
      hints.delete(id)
      if (!told) return
      if (typeof output === "string") result.output = `${output}\n\n${told}`
      else if (Array.isArray(content)) content.push({ type: "text", text: told })
      else note(sessionID, told)
    }),

    // It is made anew for every request, and so is what we add; that also brings it past a compaction.
    "experimental.chat.system.transform": quiet(async ({ sessionID }, { system }) => {
      if (!sessionID || parents.has(sessionID)) return
      const briefing = await start(sessionID, "resume")
      if (briefing) system.push(briefing)
      system.push(...(notes.get(sessionID) ?? []))
    }),

    "experimental.session.compacting": quiet(async ({ sessionID }) => {
      if (!parents.has(sessionID)) await send("experimental.session.compacting", sessionID)
    }),

    dispose: quiet(async () => {
      await last
    }),
  }
}
