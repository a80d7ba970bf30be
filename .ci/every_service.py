"""Runs the reference agent on so many tasks that each service of any task is used; to be run in an image.

    podman run -i --rm --entrypoint python mesocosm - < .ci/every_service.py

Exit code 1 where one does not pass. What needs an extra that is not there is named.
"""

import subprocess
import sys
import tempfile

from mesocosm.families.family import family_names, load_family

services = {name: set(load_family(name).task.servers) for name in family_names()}
left = set().union(*services.values())
failed = 0
while left:
    name = max(sorted(services), key=lambda one: len(services[one] & left))
    left -= services[name]
    with tempfile.TemporaryDirectory() as folder:
        command = ["run", name, "--length", "8k", "--agent", "reference", "--out", f"{folder}/run"]
        ran = subprocess.run([sys.executable, "-m", "mesocosm", *command], capture_output=True, text=True)
    missing = "needs the extra" in ran.stderr
    said = "needs an extra" if missing else ran.stdout.partition("\n")[0] or ran.stderr
    print(name, said, flush=True)
    failed += not missing and not said.startswith("passed")
sys.exit(failed > 0)
