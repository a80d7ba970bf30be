"""Hostile programs and commands of agents; each leaves something for the tools after it."""

from __future__ import annotations

from typing import Any

from fuzzing.inputs import Inputs

PROGRAMS = [
    "import os; open('f', 'w').close(); os.utime('f', (-1000, -1000))",
    "import os; open('f', 'w').close(); os.utime('f', (2**33, 2**33))",
    "import os\nfor n in range(1200): os.path.lexists(f'l{n}') or os.symlink(f'l{n + 1}', f'l{n}')",
    "import os; os.symlink('loop', 'loop')",
    "import os; os.symlink('/etc/passwd', 'passwd'); os.symlink('..', 'up')",
    "import os; open(b'\\xff\\xfe.txt', 'w').write('x'); os.mkdir(b'\\xc3(')",
    "import os; os.mkfifo('pipe')",
    "import os; os.mkdir('shut'); open('shut/in', 'w').close(); os.chmod('shut', 0)",
    "import os; open('none', 'w').close(); os.chmod('none', 0)",
    "import os\nfor n in range(80): os.mkdir('d'); os.chdir('d')",
    "open('x' * 255, 'w').write('y')",
    "open('sparse', 'wb').truncate(2**40)",
    "open('book.xlsx', 'wb').write(b'PK\\x03\\x04' + b'\\0' * 100)",
    "open('paper.pdf', 'wb').write(b'%PDF-1.7\\n' + b'\\xff' * 500)",
    "import os; os.remove('book.xlsx'); os.mkdir('book.xlsx')",
    "import os; os.rename('a.txt', 'a\\n.txt')",
    "import shutil, os\nfor n in os.listdir('.'): shutil.rmtree(n) if os.path.isdir(n) else os.remove(n)",
    "open('memory.jsonl', 'w').write('{')",
    "import os; [os.rename(n, n + '.old') for n in os.listdir('.')[:5]]",
    "for n in range(300): open(f'many{n}', 'w').write('x' * n)",
    "import os; os._exit(137)",
    "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)",
    "import os; os.close(1); os.close(2)",
    "import sys; sys.stdout.buffer.write(b'\\xff\\xfe\\0' * 1000)",
    "print('x' * 30_000_000)",
    "x = 'a' * 10**11",
    "def f(): f()\nf()",
    "raise SystemExit('\\ud800')",
    "import threading\n[threading.Thread(target=lambda: None).start() for _ in range(500)]",
    "print(",
    "",
    "\0",
    "import datetime; print(datetime.datetime.now())",
]
_CALLS = [
    "print(call_tool('filesystem', 'list_directory', {'path': '.'}))",
    "list_directory(path='.')",
    "write_file(path='x' * 300 + '/', content='y')",
    "write_file(path='a', content='\\ud800')",
    "print(list_directory(path=object()))",
    "write_file(1, 2, 3, 4)",
    "read_text_file(path='pipe')",
    "import os; os.close(3); list_directory(path='.')",
    "[list_allowed_directories() for _ in range(50)]",
    "import threading\n[threading.Thread(target=list_allowed_directories).start() for _ in range(5)]",
    "create_entities(entities=[{'name': 'n', 'entityType': 't', 'observations': ['o'] * 1000}])",
    "run_command(command='ls -la')",
    "code_execution(code='1')",
]
_COMMANDS = [
    "ls -laR",
    "cat a.txt | sort | uniq -c | head -3",
    "find . -name '*' -type f",
    "ln -s loop2 loop2",
    "touch -d 1901-01-01 a.txt",
    "mkdir -p " + "q/" * 70,
    "echo $(x)",
    "a && b || c; d",
    "ls 'unclosed",
    "cat < /dev/zero",
    "yes",
    "rm -rf .",
    "mv a.txt b.txt",
    "cp -r . copy",
    "grep -r x .",
    "sed -i s/a/b/ a.txt",
    "python3 -c 'import os; os.fork()'",
    "\0",
]


def program(tool: str, inputs: Inputs) -> dict[str, Any]:
    """Arguments for a tool that runs code."""
    pick = inputs.dice.choice
    if tool == "run_command":
        return {"command": pick(_COMMANDS) if inputs.dice.random() < 0.9 else inputs.text("command")}
    programs = [*PROGRAMS, *_CALLS * 2] if tool == "code_execution" else PROGRAMS
    given: dict[str, Any] = {"code": "\n".join(pick(programs) for _ in range(pick((1, 1, 2)))), "timeout": 5}
    if inputs.dice.random() < 0.2:
        given["filename"] = inputs.text("filename")
    if inputs.dice.random() < 0.1:
        given["timeout"] = pick((0, -1, 1, 10**9, None))
    return given
