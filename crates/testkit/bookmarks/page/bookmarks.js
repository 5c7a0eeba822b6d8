// The newest bookmarks as a list, for the page of the sample plugin.
import { post } from "/session.js";

export async function bookmarks() {
  const reply = await post("/rpc", {
    jsonrpc: "2.0",
    id: 1,
    method: "list_bookmarks",
    params: { project: "*" },
  });
  return reply.result.bookmarks;
}
