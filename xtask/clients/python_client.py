"""The official Python SDK as a client: list tools, set and get a hint, read it as a resource, wait for an update.

Arguments: the transport (stdio, http, sse) and the negotiation mode (auto, legacy).
"""

import asyncio
import json
import os
import sys

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client

TRANSPORT, MODE = sys.argv[1], sys.argv[2]
URL = os.environ["REKINDLE_URL"]
HEADERS = {"Authorization": "Bearer " + os.environ["REKINDLE_TOKEN"]}


def server():
    if TRANSPORT == "stdio":
        environment = {name: value for name, value in os.environ.items() if name.startswith("REKINDLE_")}
        return StdioServerParameters(
            command=os.environ["REKINDLE_BINARY"],
            args=["serve"],
            env={**environment, "HOME": os.environ["HOME"]},
        )
    if TRANSPORT == "http":
        return streamable_http_client(URL + "/mcp", http_client=httpx2.AsyncClient(headers=HEADERS))
    return sse_client(URL + "/sse", headers=HEADERS)


def expect(what, actual, wanted):
    if actual != wanted:
        sys.exit(f"{what}: expected {wanted!r}, got {actual!r}")


async def change(client, key):
    arguments = {"setName": "ports", "items": ["8080"], "session_id": key}
    await client.call_tool("set_relevant_context", arguments)


async def subscribed(client, key, updates):
    """Subscribes to a set of a session's context, changes it and waits for the update. Returns how it subscribed."""
    uri = f"context://{key}/ports"
    if client.protocol_version == "2026-07-28":
        async with client.listen(resource_subscriptions=[uri]) as stream:
            await change(client, key)
            event = await asyncio.wait_for(anext(aiter(stream)), 10)
        expect("the updated resource", event.uri, uri)
        return "listened"
    if not client.server_capabilities.resources.subscribe:
        return "no subscriptions"
    await client.subscribe_resource(uri)
    await change(client, key)
    expect("the updated resource", await asyncio.wait_for(updates.get(), 10), uri)
    return "subscribed"


async def main():
    key = f"python-{TRANSPORT}-{MODE}"
    updates = asyncio.Queue()

    async def handle(message):
        message = getattr(message, "root", message)
        if getattr(message, "method", None) == "notifications/resources/updated":
            updates.put_nowait(str(message.params.uri))

    async with Client(server(), mode=MODE, read_timeout_seconds=20, message_handler=handle) as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        expect("set_hint is listed", "set_hint" in tools, True)

        arguments = {"component": "web", "key": key, "value": "make build"}
        stored = await client.call_tool("set_hint", arguments)
        expect("set_hint is an error", bool(stored.is_error), False)

        found = await client.call_tool("get_hint", {"component": "web", "key": key})
        expect("the structured value", found.structured_content["hint"]["value"], "make build")
        expect("the value as text", json.loads(found.content[0].text), found.structured_content)

        missing = await client.call_tool("get_hint", {"component": "web", "key": "nothing"})
        expect("an unknown hint is an error", bool(missing.is_error), True)

        resource = await client.read_resource(f"hint://web/{key}")
        expect("the resource has the value", "make build" in resource.contents[0].text, True)

        revision = client.protocol_version
        if MODE == "auto":
            expect("the revision", revision, "2026-07-28")
        how = await subscribed(client, key, updates)
        print(f"revision {revision}, {len(tools)} tools, {how}")


asyncio.run(main())
