"""Inside the container of the servers: one program of an agent, which the code runner has to run."""

import os
import time

from mesocosm.doors.mcp import McpTools
from mesocosm.hosting.client import connect_sync

BASE = "http://127.0.0.1:8321"
PROGRAM = """
import os, socket
try:
    socket.create_connection(("servers", 8321), 2)
except OSError as error:
    print("no network")
print("user", os.getuid() != 0, "sum", sum(range(10)))
open("left.txt", "w").write("kept")
"""

episode = connect_sync(BASE, token=os.environ["MESOCOSM_ADMIN_TOKEN"]).create(
    "canvas_arrange_exam", length=8000, services=["python_execute", "filesystem"]
)
with McpTools(episode.url) as tools:
    started = time.monotonic()
    said = tools.call("python_execute", "python_execute", code=PROGRAM)
    print(said.strip(), f"({time.monotonic() - started:.2f} s)", sep="\n")
    assert "no network" in said, said
    assert "user True sum 45" in said, said
    assert tools.call("filesystem", "read_text_file", path="left.txt") == "kept"
