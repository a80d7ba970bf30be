"""An agent that shares nothing with Mesocosm: an MCP client of the 2025 handshake over HTTP, in plain Python.

It reads its task from the environment, looks around on every server of its configuration, and declares the
task done without doing it.
"""

import json
import os
import urllib.request

ACCEPT = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


class Server:
    def __init__(self, url):
        self.url, self.headers, self.number = url, dict(ACCEPT), 0
        hello = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "plain", "version": "1"},
        }
        self.ask("initialize", hello)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message):
        request = urllib.request.Request(self.url, json.dumps(message).encode(), self.headers)
        with urllib.request.urlopen(request) as response:
            if "mcp-session-id" in response.headers:
                self.headers["Mcp-Session-Id"] = response.headers["mcp-session-id"]
            text = response.read().decode()
        for line in text.splitlines():
            if line.startswith("data:") and line[5:].strip():
                text = line[5:]
        return json.loads(text) if text.strip() else None

    def ask(self, method, params):
        self.number += 1
        return self.send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})["result"]


with open(os.environ["MESOCOSM_PROMPT_FILE"], encoding="utf-8") as file:
    prompt = file.read()
assert prompt == os.environ["MESOCOSM_PROMPT"]
assert sorted(os.listdir(".")) == ["codex.toml", "mcp.json", "prompt.md"], "its task and nothing else"
assert "MESOCOSM_ADMIN_TOKEN" not in os.environ
with open(os.environ["MESOCOSM_MCP_CONFIG"], encoding="utf-8") as file:
    config = json.load(file)
servers = {name: Server(entry["url"]) for name, entry in config["mcpServers"].items()}
for name, server in servers.items():
    print(name, len(server.ask("tools/list", {})["tools"]))
listing = servers["email"].ask("tools/call", {"name": "get_emails", "arguments": {"page_size": 3}})
print("mail:", json.loads(listing["content"][0]["text"])["total"])
servers["claim_done"].ask("tools/call", {"name": "claim_done", "arguments": {}})
