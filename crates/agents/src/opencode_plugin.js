// rekindle: hands what happens in OpenCode to Rekindle, and what it remembers back to the model.
import { spawn } from "node:child_process"

const COMMAND = "REKINDLE_COMMAND"
const PATIENCE_MS = 2000

function tell(event, payload) {
  return new Promise((resolve) => {
    try {
      const child = spawn(COMMAND, ["hook", event, "--agent", "opencode"], { stdio: ["pipe", "pipe", "ignore"] })
      let said = ""
      const timer = setTimeout(() => { child.kill(); resolve("") }, PATIENCE_MS)
      child.stdout.on("data", (part) => { said += part })
      child.stdin.on("error", () => {})
      child.on("error", () => { clearTimeout(timer); resolve("") })
      child.on("close", () => { clearTimeout(timer); resolve(said) })
      child.stdin.end(JSON.stringify({ hook_event_name: event, ...payload }))
    } catch {
      resolve("")
    }
  })
}

export const Rekindle = async ({ directory }) => ({
  event: async ({ event }) => {
    const id = event?.properties?.sessionID ?? event?.properties?.info?.id
    if (id && ["session.created", "session.idle", "session.deleted"].includes(event.type)) {
      await tell(event.type, { session_id: id, cwd: directory })
    }
  },
  "tool.execute.after": async (input, output) => {
    await tell("tool.execute.after", {
      session_id: input?.sessionID,
      cwd: directory,
      tool_name: input?.tool,
      tool_input: input?.args ?? {},
      tool_response: output?.output ?? "",
    })
  },
})
