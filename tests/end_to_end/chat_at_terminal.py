"""Talks with a model at a terminal: Ctrl-C ends the answer that is being given, and behind the prompt the program;
SIGTERM ends the program in the midst of an answer, too.

usage: chat_at_terminal.py PROGRAM ARGUMENT...: a chat whose answer to "First" takes many tokens. Prints what it has seen
if that is not so, and ends with exit status 1.
"""
import os
import pty
import select
import signal
import sys
import time

PROMPT = b"> "
CTRL_C = b"\x03"
BROKEN = "\N{REPLACEMENT CHARACTER}".encode()


class Terminal:
    def __init__(self, command):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execv(command[0], command)
        self.seen = b""

    def read_until(self, is_there, what):
        read, end = b"", time.monotonic() + 60
        while not is_there(read):
            if time.monotonic() > end:
                raise AssertionError(f"no {what} within a minute")
            if select.select([self.fd], [], [], 1)[0]:
                more = os.read(self.fd, 1)
                read += more
                self.seen += more
        return read

    def read_to_prompt(self):
        return self.read_until(lambda read: read.endswith(PROMPT), "prompt")

    def read_what_is_there(self):
        read = b""
        while select.select([self.fd], [], [], 0.2)[0]:
            read += os.read(self.fd, 1 << 16)
        self.seen += read
        return read

    def say(self, words):
        self.type(words + b"\n")
        self.read_until(lambda read: read.endswith(words + b"\r\n"), "echo of what is said")

    def type(self, text):
        os.write(self.fd, text)

    def status(self):
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def whole_answer(terminal):
    terminal.read_to_prompt()
    terminal.say(b"First")
    return terminal.read_to_prompt().removesuffix(b"\r\n" + PROMPT)


def interrupted_answer(terminal):
    """What is shown of an answer that is interrupted after its first byte, or of a whole one if it was over before."""
    terminal.read_to_prompt()
    terminal.say(b"First")
    shown = terminal.read_until(lambda read: len(read) > 0, "answer")
    os.kill(terminal.pid, signal.SIGSTOP)  # or the answer is over before this process goes on
    shown += terminal.read_what_is_there()
    if PROMPT in shown:
        os.kill(terminal.pid, signal.SIGCONT)
    else:
        terminal.type(CTRL_C)
        shown += terminal.read_until(lambda read: read.endswith(b"^C"), "echo of Ctrl-C").removesuffix(b"^C")
        os.kill(terminal.pid, signal.SIGCONT)
        shown += terminal.read_to_prompt()
    terminal.type(b"/exit\n")
    assert terminal.status() == 0, "a chat of which an answer was interrupted does not end with exit status 0"
    return shown.removesuffix(b"\r\n" + PROMPT)


def check_answer(terminal, command):
    whole = whole_answer(terminal)
    for _ in range(20):  # on a busy machine this process may come too late for an answer
        terminal = Terminal(command)
        try:
            shown = interrupted_answer(terminal)
        except OSError:  # or just behind it, when Ctrl-C ends the program
            continue
        while not whole.startswith(shown) and shown.endswith(BROKEN):  # a character of which bytes were still to come
            shown = shown.removesuffix(BROKEN)
        assert whole.startswith(shown), f"{shown} is not the beginning of {whole}"
        if len(shown) < len(whole):
            return
    raise AssertionError("none of twenty answers was interrupted")


def check_prompt(terminal, _):
    terminal.read_to_prompt()
    terminal.type(CTRL_C)
    assert terminal.status() == -signal.SIGINT, "Ctrl-C behind the prompt does not end the program"


def check_termination(terminal, _):
    """Whether the signal comes before the answer's end, just then, or behind it."""
    terminal.read_to_prompt()
    terminal.say(b"First")
    terminal.read_until(lambda read: len(read) > 0, "answer")
    os.kill(terminal.pid, signal.SIGTERM)
    assert terminal.status() == -signal.SIGTERM, "SIGTERM does not end the program while it answers"


def main():
    command = sys.argv[1:]
    for check in check_answer, check_prompt, check_termination:
        terminal = Terminal(command)
        try:
            check(terminal, command)
        except (AssertionError, OSError) as failure:
            print(f"{failure}; seen at first: {terminal.seen}")
            return 1
    return 0


sys.exit(main())
